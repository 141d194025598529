package replaycmd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// cheapest returns the indexes of the policies of a grid that cost least. It is empty without a grid.
func cheapest(p *plan, sum *summary) []int {
	if !p.isGrid() || sum.conversations() == 0 {
		return nil
	}
	return chart.Cheapest(sum.totals)
}

// gridColumns are the columns of a grid's result. The last one is left out if there are no
// questions.
var gridColumns = []column{
	{"prompt", "tokens", 12}, {"", "saved", 6}, {"", "US $", 9}, {"com-", "pact.", 6},
	{"largest", "prompt", 10}, {"prefix", "kept", 7}, {"", "facts", 9},
}

var gridNames = []string{"prompt tokens", "saved", "US $", "compactions", "largest prompt", "prefix kept", "facts"}

// gridLine is a policy in a table of policies.
type gridLine struct {
	policy string
	whole  bool // it is no policy, but the whole history
	values []string
	best   string // in words, "" for any but the cheapest
	saved  float64
}

// gridTable is the result of a grid: every policy over all conversations, below a line for the whole
// history. The cheapest is highlighted, or named as such where there is no room for a table.
func gridTable(s terminal.Screen, p *plan, sum *summary) string {
	priced, columns := p.model.Priced(), gridColumns
	if sum.totals[0].Facts == nil {
		columns = columns[:len(columns)-1]
	}
	without := sum.totals[0].Without
	lines := []gridLine{{policy: "(no compaction)", whole: true, values: []string{terminal.Commas(without.PromptTokens), "", dollars(without.Dollars, priced), "", terminal.Commas(without.LargestPrompt), kept(without), ""}}}
	best := cheapest(p, sum)
	for i, t := range sum.totals {
		line := gridLine{policy: t.Policy, saved: t.SavedPercent, values: []string{
			terminal.Commas(t.With.PromptTokens), saved(t.SavedPercent), dollars(t.With.Dollars+t.Summarizer.Dollars, priced),
			terminal.Commas(t.Compactions), terminal.Commas(t.With.LargestPrompt), kept(t.With), factsShare(t),
		}}
		switch {
		case !slices.Contains(best, i):
		case len(best) == 1:
			line.best = "the cheapest"
		default:
			line.best = "cheapest, a tie"
		}
		lines = append(lines, line)
	}
	return tableOfPolicies(s, columns, gridNames, lines)
}

// tableOfPolicies writes a table with a line for each policy, or lines of "name: value" where there is no room for it.
func tableOfPolicies(s terminal.Screen, columns []column, names []string, lines []gridLine) string {
	const longest = 52
	table := newTable(s.Width(), longest, columns)
	fits := s.Tables()
	for _, l := range lines {
		fits = fits && (l.whole || uniseg.StringWidth(point(l.policy)) <= table.name)
	}
	var b strings.Builder
	b.WriteByte('\n')
	if fits {
		keys := keysOf(lines[len(lines)-1].policy)
		if uniseg.StringWidth(keys) > table.name {
			b.WriteString(s.Labeled("policies", keys))
			keys = "policy"
		}
		over, under := table.head(keys)
		b.WriteString(s.Strong(over) + "\n" + s.Strong(under) + "\n")
	}
	for _, l := range lines {
		switch {
		case fits && l.whole:
			b.WriteString(table.row(l.policy, l.values) + "\n")
		case fits:
			row := table.row(point(l.policy), l.values)
			if l.best != "" {
				row = s.Strong(row)
			}
			b.WriteString(row + "\n")
		default:
			b.WriteString(l.listed(s, names[:len(columns)]))
		}
	}
	return b.String()
}

// listed writes the values of a policy by their names.
func (l gridLine) listed(s terminal.Screen, names []string) string {
	title := l.policy
	if l.best != "" {
		title += " (" + l.best + ")"
	}
	var all []terminal.Value
	for i, name := range names {
		if l.values[i] == "" {
			continue
		}
		v := terminal.Value{Name: name, Text: l.values[i]}
		if name == "saved" {
			v.Paint = gain(s, l.saved)
		}
		all = append(all, v)
	}
	return s.Strong(s.Wrap(title, 2)) + "\n" + s.Values(2, all)
}

// kept is the share of the prompt tokens that repeat the beginning of the previous request, which a
// provider can cache.
func kept(s replay.Sent) string {
	if s.PromptTokens == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(s.CachedTokens)/float64(s.PromptTokens))
}

// factsShare is the number of questions that can still be answered, and that of all questions.
func factsShare(t replay.Total) string {
	if t.Facts == nil || t.Facts.Questions == 0 {
		return ""
	}
	return terminal.Commas(t.Facts.Kept) + "/" + terminal.Commas(t.Facts.Questions)
}

// maxBlock bounds the policies that are listed for one conversation: the cheapest ones. --json has
// all.
const maxBlock = 12

// gridBlock lists for one conversation how much each policy saves, and the turns at which it
// compacts.
func gridBlock(s terminal.Screen, p *plan, reports []*replay.Report) string {
	var b strings.Builder
	first := reports[0]
	b.WriteString(s.Strong(s.Wrap(fmt.Sprintf("%s: %s, %s, %s prompt tokens without compaction", terminal.Shorten(terminal.Printable(first.ID), s.Width()/2), terminal.Plural(first.Turns, "turn"),
		terminal.Plural(first.Without.ModelCalls, "model call"), terminal.Commas(first.Without.PromptTokens)), 2)) + "\n")
	byCost := slices.Clone(reports)
	slices.SortStableFunc(byCost, func(a, b *replay.Report) int {
		return cmp.Compare(chart.Cost(a.With, a.Summarizer, p.model.Priced()), chart.Cost(b.With, b.Summarizer, p.model.Priced()))
	})
	for i, r := range byCost {
		if i == maxBlock && len(byCost) > maxBlock+1 {
			b.WriteString("  " + s.Wrap(fmt.Sprintf("… and %d more, none of them cheaper (--json has all)", len(byCost)-i), 4) + "\n")
			break
		}
		b.WriteString(gridPoint(s, p, r))
	}
	return b.String()
}

// gridPoint writes a policy of a block.
func gridPoint(s terminal.Screen, p *plan, r *replay.Report) string {
	cost := "$" + dollars(r.With.Dollars+r.Summarizer.Dollars, p.model.Priced())
	if !p.model.Priced() {
		cost = "-"
	}
	if name := point(r.Policy); s.Tables() && uniseg.StringWidth(name) <= longPoint {
		begin := fmt.Sprintf("  %s %7s %9s  ", terminal.Pad(name, longPoint), saved(r.SavedPercent), cost)
		return begin + fired(r, s.Width()-uniseg.StringWidth(begin)) + "\n"
	}
	return "  " + s.Wrap(r.Policy, 4) + "\n" + s.Values(4, []terminal.Value{
		{Name: "saved", Text: saved(r.SavedPercent), Paint: gain(s, r.SavedPercent)},
		{Name: "US $", Text: strings.TrimPrefix(cost, "$")},
		{Name: "fires", Text: firedWhen(r, s.Width()-len("    "))},
	})
}

// firedWhen is fired without its verb, to go behind the name "fires".
func firedWhen(r *replay.Report, columns int) string {
	when := fired(r, columns)
	if rest, ok := strings.CutPrefix(when, "fires "); ok {
		return rest
	}
	return "never"
}

// gain returns the color of a share that was saved: green, red for a loss, none for 0.
func gain(s terminal.Screen, percent float64) func(string) string {
	switch {
	case percent > 0:
		return s.Good
	case percent < 0:
		return s.Bad
	}
	return nil
}

// longPoint is the longest name of a policy that is shown in full.
const longPoint = 44

// point names a policy of a grid. It replaces a long name by the values alone, which then stand
// under their keys: "extractive / 1 / 250" for "summarizer=extractive max-summaries=1
// max-summary-tokens=250".
func point(policy string) string {
	if len(policy) <= longPoint {
		return policy
	}
	return strings.Join(each(policy, func(_, value string) string { return value }), " / ")
}

// keysOf is the heading of a column of points.
func keysOf(policy string) string {
	if len(policy) <= longPoint {
		return "policy"
	}
	return strings.Join(each(policy, func(key, _ string) string { return key }), " / ")
}

// each applies f to every key=value in the name of a policy.
func each(policy string, f func(key, value string) string) []string {
	var out []string
	for _, word := range strings.Fields(policy) {
		key, value, _ := strings.Cut(word, "=")
		out = append(out, f(key, value))
	}
	return out
}

// fired names the turns during or after which a policy compacted. If they do not all fit, it names
// the first and the last ones.
func fired(r *replay.Report, columns int) string {
	var turns []string
	last := 0
	for _, c := range r.Compactions {
		if c.Turn != last || len(turns) == 0 {
			turns, last = append(turns, strconv.Itoa(c.Turn)), c.Turn
		}
	}
	switch len(turns) {
	case 0:
		return "never fires"
	case 1:
		return "fires at turn " + turns[0]
	}
	const all, most = "fires at turns ", 10
	if text := all + strings.Join(turns, ", "); len(turns) <= most && len(text) <= columns {
		return text
	}
	for ends := min(most, len(turns)-1) / 2; ends > 0; ends-- {
		named := slices.Concat(turns[:ends], []string{"…"}, turns[len(turns)-ends:])
		if text := all + strings.Join(named, ", "); uniseg.StringWidth(text) <= columns {
			return text
		}
	}
	return "fires " + terminal.Commas(len(turns)) + " times"
}
