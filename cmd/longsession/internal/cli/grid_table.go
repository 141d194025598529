package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/replay"
)

// costOf is what a policy cost: US dollars, or tokens where no prices are known.
func costOf(with replay.Sent, s replay.Summaries, priced bool) float64 {
	if priced {
		return with.Dollars + s.Dollars
	}
	return float64(with.PromptTokens + s.PromptTokens + s.OutputTokens)
}

// sameCost reports whether two costs differ by no more than sums of fractions do.
func sameCost(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// cheapest are the indexes of the policies of a grid that cost least: several if they cost the same. It is
// empty without a grid.
func cheapest(p *plan, sum *summary) []int {
	if !p.grid || sum.conversations() == 0 {
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

// gridColumns are those of a grid's result; the last one is there if there are questions.
var gridColumns = []column{
	{"prompt", "tokens", 12}, {"", "saved", 6}, {"", "US $", 9}, {"com-", "pact.", 6},
	{"largest", "prompt", 10}, {"prefix", "kept", 7}, {"", "facts", 9},
}

var gridNames = []string{"prompt tokens", "saved", "US $", "compactions", "largest prompt", "prefix kept", "facts"}

// gridTable is the result: every policy over all conversations.
func gridTable(s screen, p *plan, sum *summary) string {
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
	lines := []line{{policy: "(no compaction)", values: []string{commas(without.PromptTokens), "", dollars(without.Dollars, priced), "", commas(without.LargestPrompt), kept(without), ""}}}
	best := cheapest(p, sum)
	for i, t := range sum.totals {
		lines = append(lines, line{t.Policy, []string{
			commas(t.With.PromptTokens), saved(t.SavedPercent), dollars(t.With.Dollars+t.Summarizer.Dollars, priced),
			commas(t.Compactions), commas(t.With.LargestPrompt), kept(t.With), factsShare(t),
		}, t, slices.Contains(best, i)})
	}
	const longest = 52
	table := newTable(s.width(), longest, columns)
	fits := s.tables()
	for _, l := range lines[1:] {
		fits = fits && uniseg.StringWidth(point(l.policy)) <= table.name
	}
	var b strings.Builder
	b.WriteByte('\n')
	if fits {
		keys := keysOf(sum.totals[0].Policy)
		if uniseg.StringWidth(keys) > table.name {
			b.WriteString(s.labelled("policies", keys))
			keys = "policy"
		}
		over, under := table.head(keys)
		b.WriteString(s.strong(over) + "\n" + s.strong(under) + "\n")
	}
	for i, l := range lines {
		switch {
		case fits && i == 0:
			b.WriteString(table.row(l.policy, l.values) + "\n")
		case fits:
			row := table.row(point(l.policy), l.values)
			if l.best {
				row = s.strong(row)
			}
			b.WriteString(row + "\n")
		default:
			name := l.policy
			if l.best && len(best) == 1 {
				name += " (the cheapest)"
			} else if l.best {
				name += " (cheapest, a tie)"
			}
			b.WriteString(s.strong(s.wrap(name, 2)) + "\n")
			var all []painted
			for i := range columns {
				if l.values[i] == "" {
					continue
				}
				v := painted{pair: pair{gridNames[i], l.values[i]}}
				if gridNames[i] == "saved" {
					v.paint = s.gain(l.total.SavedPercent)
				}
				all = append(all, v)
			}
			b.WriteString(s.pairs(2, all))
		}
	}
	return b.String()
}

// kept is the share of the prompt tokens that a provider's cache had seen in the request before.
func kept(s replay.Sent) string {
	if s.PromptTokens == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(s.CachedTokens)/float64(s.PromptTokens))
}

// factsShare is how many questions can still be answered, of how many.
func factsShare(t replay.Total) string {
	if t.Facts == nil || t.Facts.Questions == 0 {
		return ""
	}
	return commas(t.Facts.Kept) + "/" + commas(t.Facts.Questions)
}
