package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/internal/replay"
)

// maxBlock is how many policies are listed for one conversation: the cheapest ones. --json has all.
const maxBlock = 12

// costOf is what a policy cost: US dollars, or tokens where no prices are known.
func costOf(with replay.Sent, s replay.Summaries, priced bool) float64 {
	if priced {
		return with.Dollars + s.Dollars
	}
	return float64(with.PromptTokens + s.PromptTokens + s.OutputTokens)
}

// cheapest is the index of the policy of a grid that cost least, the first of equals; -1 without a grid.
func cheapest(p *plan, sum *summary) int {
	if !p.grid || sum.conversations() == 0 {
		return -1
	}
	best := 0
	cost := func(i int) float64 {
		return costOf(sum.totals[i].With, sum.totals[i].Summarizer, p.model.Priced())
	}
	for i := range sum.totals {
		if cost(i) < cost(best) {
			best = i
		}
	}
	return best
}

// gridBlock says for one conversation what each policy would have saved, and where it would have fired.
func gridBlock(p *plan, reports []*replay.Report) string {
	var b strings.Builder
	first := reports[0]
	fmt.Fprintf(&b, "%s: %s, %s, %s prompt tokens without compaction\n", printable(first.ID), plural(first.Turns, "turn"),
		plural(first.Without.ModelCalls, "model call"), commas(first.Without.PromptTokens))
	byCost := slices.Clone(reports)
	slices.SortStableFunc(byCost, func(a, b *replay.Report) int {
		return cmp.Compare(costOf(a.With, a.Summarizer, p.model.Priced()), costOf(b.With, b.Summarizer, p.model.Priced()))
	})
	for i, r := range byCost {
		if i == maxBlock && len(byCost) > maxBlock+1 {
			fmt.Fprintf(&b, "  … and %d more, which cost no less (--json has all)\n", len(byCost)-i)
			break
		}
		fmt.Fprintf(&b, "  %-44s %7s %9s  %s\n", shorten(point(r.Policy), 44), saved(r.SavedPercent),
			"$"+dollars(r.With.Dollars+r.Summarizer.Dollars, p.model.Priced()), fired(r))
	}
	return b.String()
}

// longPoint is how long the name of a policy may be to stand in a line as it is.
const longPoint = 44

// point names a policy of a grid: as it is called or, where that is too long to be told apart at a glance,
// by the values alone, in the order of the keys above them.
func point(policy string) string {
	if len(policy) <= longPoint {
		return policy
	}
	return strings.Join(each(policy, func(_, value string) string { return value }), " / ")
}

// keysOf heads a column of points.
func keysOf(policy string) string {
	if len(policy) <= longPoint {
		return "policy"
	}
	return strings.Join(each(policy, func(key, _ string) string { return key }), " / ")
}

// each is what f makes of each key=value in a policy's name.
func each(policy string, f func(key, value string) string) []string {
	var out []string
	for _, word := range strings.Fields(policy) {
		key, value, _ := strings.Cut(word, "=")
		out = append(out, f(key, value))
	}
	return out
}

// fired names the turns in or behind which a policy compacted.
func fired(r *replay.Report) string {
	var turns []int
	for _, c := range r.Compactions {
		if len(turns) == 0 || turns[len(turns)-1] != c.Turn {
			turns = append(turns, c.Turn)
		}
	}
	if len(turns) == 0 {
		return "never fires"
	}
	const ends = 5
	var names []string
	for i, turn := range turns {
		switch {
		case len(turns) <= 2*ends || i < ends || i >= len(turns)-ends:
			names = append(names, strconv.Itoa(turn))
		case i == ends:
			names = append(names, "…")
		}
	}
	if len(turns) == 1 {
		return "fires at turn " + names[0]
	}
	return fmt.Sprintf("fires at turns %s", strings.Join(names, ", "))
}

const gridForm = "%-52s %12s %6s %9s %6s %10s %7s %9s\n"

// gridTable is the result: every policy over all conversations, and which cost least.
func gridTable(p *plan, sum *summary) string {
	var b strings.Builder
	priced := p.model.Priced()
	facts := ""
	if sum.totals[0].Facts != nil {
		facts = "facts"
	}
	b.WriteString("\n" + trimLine(fmt.Sprintf(gridForm, "", "prompt", "", "", "com-", "largest", "prefix", "")))
	b.WriteString(trimLine(fmt.Sprintf(gridForm, shorten(keysOf(sum.totals[0].Policy), 52), "tokens", "saved", "US $", "pact.", "prompt", "kept", facts)))
	without := sum.totals[0].Without
	line := func(values ...any) { b.WriteString(trimLine(fmt.Sprintf(gridForm, values...))) }
	line("(no compaction)", commas(without.PromptTokens), "", dollars(without.Dollars, priced), "", commas(without.LargestPrompt), kept(without), "")
	for _, t := range sum.totals {
		line(shorten(point(t.Policy), 52), commas(t.With.PromptTokens), saved(t.SavedPercent),
			dollars(t.With.Dollars+t.Summarizer.Dollars, priced), commas(t.Compactions), commas(t.With.LargestPrompt), kept(t.With), factsShare(t))
	}
	best := sum.totals[cheapest(p, sum)]
	over := plural(sum.conversations(), "conversation")
	if !sum.complete {
		over = "the " + over + " played so far"
	}
	usd := func(with replay.Sent, s replay.Summaries) string {
		if priced {
			return "$" + dollars(costOf(with, s, true), true)
		}
		return commas(int(costOf(with, s, false))) + " tokens"
	}
	instead := "instead of " + usd(without, replay.Summaries{}) + " without compaction"
	if costOf(best.With, best.Summarizer, priced) >= costOf(without, replay.Summaries{}, priced) {
		instead = "but " + usd(without, replay.Summaries{}) + " without compaction: the prompt cache saves more than it does"
	}
	b.WriteString("\n" + wrap(fmt.Sprintf("Cheapest over %s: %s, %s, %s.", over, best.Policy, usd(best.With, best.Summarizer), instead), 0) + "\n")
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
