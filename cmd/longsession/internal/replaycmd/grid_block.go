package replaycmd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

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
		return cmp.Compare(costOf(a.With, a.Summarizer, p.model.Priced()), costOf(b.With, b.Summarizer, p.model.Priced()))
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

// gain returns the colour of a share that was saved.
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
