package summarizer

import (
	"fmt"
	"sort"
	"strings"

	"github.com/adk-go-ext/longsession/tokens"
)

// render lists the calls in as much detail as fits into budget tokens. It tries several key values
// per call, then fewer, then one for as many of the newest calls as fit, and finally only names
// with counts. It joins identical entries. It returns "" if there are no calls or even the names do
// not fit.
//
//	weather(city=Oslo) ok: degrees=-3; weather(city=Rome) ok: degrees=18     enough room
//	weather ok; weather(city=Rome) ok: degrees=18                            less room
//	weather ×2                                                               little room
func (t *toolLog) render(budget int) string {
	if len(t.calls) == 0 {
		return ""
	}
	fits := func(text string) bool { return tokens.Estimate(text)+lineBreak <= budget }
	for values := maxKeyValues; values > 0; values-- {
		if text := t.listed(values, 0); fits(text) {
			return text
		}
	}
	oldest := sort.Search(len(t.calls), func(i int) bool { return fits(t.listed(1, i)) })
	for _, text := range []string{t.listed(1, oldest), t.names()} {
		if fits(text) {
			return text
		}
	}
	return ""
}

// listed renders all calls. Only the calls from index on get key values.
func (t *toolLog) listed(values, index int) string {
	entries := make([]string, len(t.calls))
	for i, c := range t.calls {
		if i < index {
			entries[i] = c.describe(0)
		} else {
			entries[i] = c.describe(values)
		}
	}
	return "Tools: " + grouped(entries)
}

// names renders the shortest form: each tool once, with the number of its calls and failures.
func (t *toolLog) names() string {
	failed := map[string]int{}
	for _, c := range t.calls {
		if c.outcome != "ok" {
			failed[c.name]++
		}
	}
	entries := make([]string, len(t.calls))
	for i, c := range t.calls {
		entries[i] = c.name
		if n := failed[c.name]; n > 0 {
			entries[i] = fmt.Sprintf("%s (%d not ok)", c.name, n)
		}
	}
	return "Tools: " + grouped(entries)
}

func (c *toolCall) describe(values int) string {
	text := c.name
	if args := c.args[:min(values, len(c.args))]; len(args) > 0 {
		text += "(" + strings.Join(args, ", ") + ")"
	}
	text += " " + c.outcome
	if result := c.result[:min(values, len(c.result))]; len(result) > 0 {
		text += ": " + strings.Join(result, ", ")
	}
	return text
}

// grouped joins entries in the order of their first appearance. It merges equal entries and adds
// their number: "search ok ×3".
func grouped(entries []string) string {
	var order []string
	count := map[string]int{}
	for _, e := range entries {
		if count[e]++; count[e] == 1 {
			order = append(order, e)
		}
	}
	for i, e := range order {
		if count[e] > 1 {
			order[i] = fmt.Sprintf("%s ×%d", e, count[e])
		}
	}
	return strings.Join(order, "; ")
}
