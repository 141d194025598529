package audit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
)

// cuts takes the beginnings of private values out of summaries. A summary may have been cut to its length in the
// middle of such a value, and what is left has its form no more: half a card number has no check digit. So
// what matches in the events is remembered, without its white space.
type cuts struct {
	values  map[string]bool
	sorted  []string // the values, if they are sorted
	longest int
	asked   bool // there was a text that is cut
}

const (
	// fewestCut is how many bytes of a value tell something of it.
	fewestCut = 4
	// mostCut is how much of a value is remembered, in bytes: no summary quotes more of one.
	mostCut = 4096
	// cutMark stands where a summarizer has cut a text.
	cutMark = "…"
)

// remember notes what matches in a text.
func (c *cuts) remember(r *redact.Redactor, text string) {
	for _, s := range r.Spans(text) {
		value := squeezed(text[s[0]:s[1]])
		if value = value[:min(len(value), mostCut)]; len(value) <= fewestCut || c.values[value] {
			continue
		}
		if c.values == nil {
			c.values = map[string]bool{}
		}
		c.values[value], c.sorted, c.longest = true, nil, max(c.longest, len(value))
	}
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// take takes the beginnings of values out of a text, in front of each mark of a cut and at its end.
func (c *cuts) take(text string) string {
	c.asked = c.asked || text != ""
	if len(c.values) == 0 {
		return text
	}
	if c.sorted == nil {
		for value := range c.values {
			c.sorted = append(c.sorted, value)
		}
		slices.Sort(c.sorted)
	}
	pieces := strings.Split(text, cutMark)
	for i, piece := range pieces {
		if from := c.begun(piece); from >= 0 {
			pieces[i] = piece[:from] + redact.Mark
		}
	}
	return strings.Join(pieces, cutMark)
}

// begun returns where the end of a text begins a value, -1 if it does not.
func (c *cuts) begun(text string) int {
	end, found := "", -1
	for i := len(text); i > 0 && len(end) <= c.longest; {
		char, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		if unicode.IsSpace(char) {
			continue
		}
		if end = text[i:i+size] + end; len(end) < fewestCut {
			continue
		}
		if at, _ := slices.BinarySearch(c.sorted, end); at < len(c.sorted) && strings.HasPrefix(c.sorted[at], end) {
			found = i
		}
	}
	return found
}
