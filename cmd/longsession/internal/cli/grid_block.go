package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/replay"
)

// maxBlock is how many policies are listed for one conversation: the cheapest ones. --json has all.
const maxBlock = 12

// gridBlock says for one conversation what each policy would have saved, and where it would have fired.
func gridBlock(s screen, p *plan, reports []*replay.Report) string {
	var b strings.Builder
	first := reports[0]
	b.WriteString(s.strong(s.wrap(fmt.Sprintf("%s: %s, %s, %s prompt tokens without compaction", shorten(printable(first.ID), s.width()/2), plural(first.Turns, "turn"),
		plural(first.Without.ModelCalls, "model call"), commas(first.Without.PromptTokens)), 2)) + "\n")
	byCost := slices.Clone(reports)
	slices.SortStableFunc(byCost, func(a, b *replay.Report) int {
		return cmp.Compare(costOf(a.With, a.Summarizer, p.model.Priced()), costOf(b.With, b.Summarizer, p.model.Priced()))
	})
	for i, r := range byCost {
		if i == maxBlock && len(byCost) > maxBlock+1 {
			b.WriteString("  " + s.wrap(fmt.Sprintf("… and %d more, which cost no less (--json has all)", len(byCost)-i), 4) + "\n")
			break
		}
		b.WriteString(gridPoint(s, p, r))
	}
	return b.String()
}

// gridPoint is a policy of a block.
func gridPoint(s screen, p *plan, r *replay.Report) string {
	cost := "$" + dollars(r.With.Dollars+r.Summarizer.Dollars, p.model.Priced())
	if !p.model.Priced() {
		cost = "-"
	}
	if name := point(r.Policy); s.tables() && uniseg.StringWidth(name) <= longPoint {
		begin := fmt.Sprintf("  %s %7s %9s  ", pad(name, longPoint), saved(r.SavedPercent), cost)
		return begin + fired(r, s.width()-uniseg.StringWidth(begin)) + "\n"
	}
	return "  " + s.wrap(r.Policy, 4) + "\n" + s.pairs(4, []painted{
		{pair: pair{"saved", saved(r.SavedPercent)}, paint: s.gain(r.SavedPercent)},
		{pair: pair{"US $", strings.TrimPrefix(cost, "$")}},
		{pair: pair{"fires", firedWhen(r, s.width()-len("    "))}},
	})
}

// firedWhen is fired behind a name that says what it is about.
func firedWhen(r *replay.Report, columns int) string {
	when := fired(r, columns)
	if rest, ok := strings.CutPrefix(when, "fires "); ok {
		return rest
	}
	return "never"
}

// gain is the colour of a share that was saved.
func (s screen) gain(percent float64) func(string) string {
	switch {
	case percent > 0:
		return s.good
	case percent < 0:
		return s.bad
	}
	return nil
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

// fired names the turns in or behind which a policy compacted, the first and the last of them if all do not
// fit into so many columns.
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
	return "fires " + commas(len(turns)) + " times"
}
