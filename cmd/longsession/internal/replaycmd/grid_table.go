package replaycmd

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// costOf is the cost of a policy in US dollars, or in tokens if no prices are known.
func costOf(with replay.Sent, s replay.Summaries, priced bool) float64 {
	if priced {
		return with.Dollars + s.Dollars
	}
	return float64(with.PromptTokens + s.PromptTokens + s.OutputTokens)
}

// sameCost reports whether two costs differ by no more than rounding errors.
func sameCost(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// cheapest returns the indexes of the policies of a grid that cost least, which are several in a
// tie. It is empty without a grid.
func cheapest(p *plan, sum *summary) []int {
	if !p.isGrid() || sum.conversations() == 0 {
		return nil
	}
	cost := func(i int) float64 {
		return costOf(sum.totals[i].With, sum.totals[i].Summarizer, p.model.Priced())
	}
	least := cost(0)
	for i := range sum.totals {
		least = min(least, cost(i))
	}
	var best []int
	for i := range sum.totals {
		if sameCost(cost(i), least) {
			best = append(best, i)
		}
	}
	return best
}

// gridColumns are the columns of a grid's result. The last one is left out if there are no
// questions.
var gridColumns = []column{
	{"prompt", "tokens", 12}, {"", "saved", 6}, {"", "US $", 9}, {"com-", "pact.", 6},
	{"largest", "prompt", 10}, {"prefix", "kept", 7}, {"", "facts", 9},
}

var gridNames = []string{"prompt tokens", "saved", "US $", "compactions", "largest prompt", "prefix kept", "facts"}

// gridTable is the result of a grid: every policy over all conversations.
func gridTable(s terminal.Screen, p *plan, sum *summary) string {
	type line struct {
		policy string
		values []string
		total  replay.Total
		best   bool
	}
	priced, columns := p.model.Priced(), gridColumns
	if sum.totals[0].Facts == nil {
		columns = columns[:len(columns)-1]
	}
	without := sum.totals[0].Without
	lines := []line{{policy: "(no compaction)", values: []string{terminal.Commas(without.PromptTokens), "", dollars(without.Dollars, priced), "", terminal.Commas(without.LargestPrompt), kept(without), ""}}}
	best := cheapest(p, sum)
	for i, t := range sum.totals {
		lines = append(lines, line{t.Policy, []string{
			terminal.Commas(t.With.PromptTokens), saved(t.SavedPercent), dollars(t.With.Dollars+t.Summarizer.Dollars, priced),
			terminal.Commas(t.Compactions), terminal.Commas(t.With.LargestPrompt), kept(t.With), factsShare(t),
		}, t, slices.Contains(best, i)})
	}
	const longest = 52
	table := newTable(s.Width(), longest, columns)
	fits := s.Tables()
	for _, l := range lines[1:] {
		fits = fits && uniseg.StringWidth(point(l.policy)) <= table.name
	}
	var b strings.Builder
	b.WriteByte('\n')
	if fits {
		keys := keysOf(sum.totals[0].Policy)
		if uniseg.StringWidth(keys) > table.name {
			b.WriteString(s.Labelled("policies", keys))
			keys = "policy"
		}
		over, under := table.head(keys)
		b.WriteString(s.Strong(over) + "\n" + s.Strong(under) + "\n")
	}
	for i, l := range lines {
		switch {
		case fits && i == 0:
			b.WriteString(table.row(l.policy, l.values) + "\n")
		case fits:
			row := table.row(point(l.policy), l.values)
			if l.best {
				row = s.Strong(row)
			}
			b.WriteString(row + "\n")
		default:
			name := l.policy
			if l.best && len(best) == 1 {
				name += " (the cheapest)"
			} else if l.best {
				name += " (cheapest, a tie)"
			}
			b.WriteString(s.Strong(s.Wrap(name, 2)) + "\n")
			var all []terminal.Value
			for i := range columns {
				if l.values[i] == "" {
					continue
				}
				v := terminal.Value{Name: gridNames[i], Text: l.values[i]}
				if gridNames[i] == "saved" {
					v.Paint = gain(s, l.total.SavedPercent)
				}
				all = append(all, v)
			}
			b.WriteString(s.Values(2, all))
		}
	}
	return b.String()
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
