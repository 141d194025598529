package replaycmd

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// noise is the share of a cost below which a difference is not worth a word, and never a recommendation.
const noise = 0.005

// perThousand is the number of conversations that a saving is told for, unless --per-month says how many there are.
const perThousand = 1000

// recommendation is what a user of these conversations should do, and the figures behind it. It is in the JSON.
type recommendation struct {
	// Way is the cheapest way that keeps what the default keeps; of ways that differ by noise, the simplest.
	Way string `json:"way"`
	// WithoutDollars is the cost without compaction, and WithDollars that of Way.
	WithoutDollars float64 `json:"without_dollars"`
	WithDollars    float64 `json:"with_dollars"`
	// Per1000Dollars is what Way saves over 1,000 such conversations, and PerMonthDollars over those of --per-month. Both
	// are negative if it costs more.
	Per1000Dollars  float64 `json:"saved_per_1000_dollars"`
	PerMonth        int     `json:"per_month,omitempty"`
	PerMonthDollars float64 `json:"saved_per_month_dollars,omitempty"`
	// Conversations is how many it is drawn from.
	Conversations int `json:"conversations"`
	// Ways are in the order of their simplicity, and Layers what each adds to the default.
	Ways   []wayCost   `json:"ways"`
	Layers []layerCost `json:"layers,omitempty"`

	best        wayCost
	prompts     int // without compaction
	facts       *replay.Facts
	compactions int // by default
}

// wayCost is what a way would have cost.
type wayCost struct {
	Way     string  `json:"way"`
	Dollars float64 `json:"dollars"`
	// Over is how many prompts would have exceeded the context window.
	Over int `json:"over"`

	harm int // calls without results, and violations of the rules for a view
}

// layerCost is what a layer adds to the cost of the default.
type layerCost struct {
	Layer string `json:"layer"`
	// AddedDollars is negative for a layer that pays.
	AddedDollars float64 `json:"added_dollars"`
	Pays         bool    `json:"pays"`
	// Answers is how many more of the recording's questions can be answered.
	Answers int `json:"answers"`
}

// recommend returns what the figures say, nil if there is nothing to compare.
func recommend(p *plan, sum *summary) *recommendation {
	if !sum.complete || len(sum.ways) == 0 || sum.ways[0].Conversations == 0 {
		return nil
	}
	standard := sum.ways[0].Total
	without := chart.Cost(standard.Without, replay.Summaries{}, true)
	if without <= 0 {
		return nil
	}
	r := &recommendation{
		WithoutDollars: without, Conversations: standard.Conversations, PerMonth: p.perMonth,
		prompts: standard.Without.ModelCalls, compactions: standard.Compactions,
	}
	for i, t := range sum.ways {
		w := p.ways[i]
		switch {
		case t.applied == 0:
			continue
		case w.key == toolResults || w.key == toolSearch || w.late():
			r.Layers = append(r.Layers, layerOf(w.key, standard, t.Total))
		}
		if !w.late() {
			r.Ways = append(r.Ways, wayCost{w.key, costOf(t.Total), t.Over, t.Orphans + t.Hidden})
		}
		if i == 0 {
			r.Ways = append(r.Ways, wayCost{Way: wayNothing, Dollars: without, Over: sum.overWithout})
		}
	}
	r.best = best(r.Ways)
	r.Way, r.WithDollars = r.best.Way, r.best.Dollars
	each := (without - r.WithDollars) / float64(r.Conversations)
	r.Per1000Dollars, r.PerMonthDollars = perThousand*each, float64(p.perMonth)*each
	r.facts = standard.Facts
	if i := slices.IndexFunc(p.ways, func(w way) bool { return w.key == r.Way }); i >= 0 {
		r.facts = sum.ways[i].Facts
	}
	return r
}

func costOf(t replay.Total) float64 { return chart.Cost(t.With, t.Summarizer, true) }

// best returns the simplest of the ways that cost least, to within noise. The first way is the default. None is
// recommended that breaks more rules than the default, or sends more prompts over the window.
func best(ways []wayCost) wayCost {
	least := math.Inf(1)
	fits := func(w wayCost) bool { return w.Over <= ways[0].Over && w.harm <= ways[0].harm }
	for _, w := range ways {
		if fits(w) {
			least = min(least, w.Dollars)
		}
	}
	for _, w := range ways {
		if fits(w) && w.Dollars <= least*(1+noise) {
			return w
		}
	}
	return ways[0]
}

// layerOf compares a total with that of the default. The total for the ledger is one without it.
func layerOf(key string, standard, other replay.Total) layerCost {
	with, without := other, standard
	if key == wayLedger {
		with, without = standard, other
	}
	l := layerCost{Layer: key, AddedDollars: costOf(with) - costOf(without)}
	l.Pays = l.AddedDollars < 0 && !isNoise(l.AddedDollars, costOf(standard))
	if f, g := with.Facts, without.Facts; f != nil && g != nil {
		l.Answers = f.Kept - g.Kept
		if key == wayRecall {
			l.Answers = f.Recalled - g.Kept
		}
	}
	return l
}

func isNoise(difference, of float64) bool { return math.Abs(difference) < noise*of }

// text returns the lines of the recommendation: what to do and what that saves, what the other ways would have cost, which
// layers pay, and how far to trust it.
func (r *recommendation) text() []string {
	lines := []string{r.verdict(), r.others()}
	if layers := r.layers(); layers != "" {
		lines = append(lines, layers)
	}
	if last := r.caveats(); last != "" {
		lines = append(lines, last)
	}
	return lines
}

// verdict says what to do, and what it saves.
func (r *recommendation) verdict() string {
	with, without := usd(r.WithDollars), usd(r.WithoutDollars)
	saved := r.WithoutDollars - r.WithDollars
	same := isNoise(saved, r.WithoutDollars)
	switch {
	case r.Way == wayPrice && same && r.compactions == 0:
		return "Leave it as it is: the default adds nothing and costs nothing (" + with + " with it and without)."
	case r.Way == wayPrice && same:
		return fmt.Sprintf("Leave it as it is: by default these cost what they cost without compaction (%s and %s).", with, without)
	case r.Way == wayNothing:
		standard := r.dollars(wayPrice)
		more := standard - r.WithoutDollars
		return fmt.Sprintf("Leave compaction off for these. By default they cost %s more than %s without it (%s)%s.", usd(more), without, ratio(more, r.WithoutDollars), r.scaled(more))
	}
	do := map[string]string{
		wayPrice:    "Compact when it pays, which is the default",
		wayTurns:    "Compact every 5 turns (--threshold 5)",
		wayFlags:    "Keep the flags of this run",
		toolResults: "Keep the default, and add tool results (--layers toolresult)",
		toolSearch:  "Keep the default, and add tool search (--layers toolsearch)",
		allLayers:   "Keep the default, and add all layers (--layers all)",
	}[r.Way]
	switch {
	case same:
		return fmt.Sprintf("%s. It costs as much as no compaction, %s.", do, without)
	case saved < 0:
		return fmt.Sprintf("%s. It costs %s more than %s without compaction (%s)%s.", do, usd(-saved), without, ratio(-saved, r.WithoutDollars), r.scaled(-saved))
	}
	return fmt.Sprintf("%s. It saves %s of %s (%s)%s.", do, usd(saved), without, ratio(saved, r.WithoutDollars), r.scaled(saved))
}

// scaled says what an amount over these conversations is over as many as there are in a month, or over a thousand.
func (r *recommendation) scaled(amount float64) string {
	each := amount / float64(max(r.Conversations, 1))
	if r.PerMonth > 0 {
		return fmt.Sprintf(", %s a month at %s", usd(each*float64(r.PerMonth)), terminal.Plural(r.PerMonth, "conversation"))
	}
	return fmt.Sprintf(", %s per 1,000 conversations", usd(each*perThousand))
}

// ratio writes a part of an amount in percent.
func ratio(part, whole float64) string { return shareInWords(int(part*1e9), int(whole*1e9)) }

// many counts a part of things: "1 of 3 prompts".
func many(part, whole int, one string) string {
	return terminal.Commas(part) + " of " + terminal.Plural(whole, one)
}

// others lists what the other ways would have cost.
func (r *recommendation) others() string {
	names := map[string]string{wayPrice: "by default", wayTurns: "every 5 turns", wayFlags: "with your flags", wayNothing: "without compaction"}
	var parts []string
	for _, w := range r.Ways {
		name, told := names[w.Way]
		if !told || w.Way == r.Way || w.Way == wayNothing || w.Way == wayPrice && r.Way == wayNothing {
			continue // the verdict has the others
		}
		than := w.Dollars - r.WithDollars
		switch {
		case isNoise(than, r.WithDollars):
			parts = append(parts, fmt.Sprintf("%s %s (the same)", name, usd(w.Dollars)))
		case than > 0:
			parts = append(parts, fmt.Sprintf("%s %s (%s more)", name, usd(w.Dollars), ratio(than, r.WithDollars)))
		case w.harm > 0:
			parts = append(parts, fmt.Sprintf("%s %s, but with %s", name, usd(w.Dollars), terminal.Plural(w.harm, "broken rule")))
		default:
			parts = append(parts, fmt.Sprintf("%s %s, but with %s over the window", name, usd(w.Dollars), terminal.Plural(w.Over, "prompt")))
		}
	}
	if len(parts) == 0 {
		return "No other way that was compared costs less."
	}
	text := terminal.List(parts, "and")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// layers says which layers pay, "" if none has anything to do.
func (r *recommendation) layers() string {
	names := map[string]string{toolResults: "tool results", toolSearch: "tool search", wayRecall: "recall", wayLedger: "exact values"}
	standard := r.dollars(wayPrice)
	var pay, not []string
	for _, l := range r.Layers {
		text := names[l.Layer]
		switch {
		case l.Pays:
			text += " (" + usd(-l.AddedDollars) + " less)"
		case isNoise(l.AddedDollars, standard):
			text += " (under 0.5%)"
		default:
			text += " (" + usd(l.AddedDollars) + " more)"
		}
		if l.Answers > 0 {
			text = strings.TrimSuffix(text, ")") + ", " + terminal.Plural(l.Answers, "answer") + " more)"
		}
		if l.Pays {
			pay = append(pay, text)
		} else if l.AddedDollars != 0 || l.Answers != 0 {
			not = append(not, text)
		}
	}
	switch {
	case len(pay) > 0 && len(not) > 0:
		return "Layers that pay: " + terminal.List(pay, "and") + "; that do not: " + terminal.List(not, "and") + "."
	case len(pay) > 0:
		return "Layers that pay: " + terminal.List(pay, "and") + "."
	case len(not) > 0:
		return "No other layer pays: " + terminal.List(not, "and") + "."
	}
	return ""
}

// caveats say what the amounts do not, "" for nothing.
func (r *recommendation) caveats() string {
	var parts []string
	if i := slices.IndexFunc(r.Ways, func(w wayCost) bool { return w.Way == wayNothing }); i >= 0 && r.Ways[i].Over > r.best.Over {
		parts = append(parts, fmt.Sprintf("Without compaction %s would have exceeded the window.", many(r.Ways[i].Over, r.prompts, "prompt")))
	}
	if f := r.facts; f != nil && r.Way != wayNothing && f.Kept < f.Questions {
		parts = append(parts, fmt.Sprintf("From the last prompt %s can be answered, with recall %s.", many(f.Kept, f.Questions, "question"), terminal.Commas(max(f.Kept, f.Recalled))))
	}
	if r.Conversations == 1 {
		parts = append(parts, "This is one conversation: play more before you rely on it.")
	}
	return strings.Join(parts, " ")
}

// dollars is the cost of a way.
func (r *recommendation) dollars(key string) float64 {
	for _, w := range r.Ways {
		if w.Way == key {
			return w.Dollars
		}
	}
	return r.WithoutDollars
}

// recommended is the recommendation in lines, none if there is nothing to recommend from.
func recommended(p *plan, sum *summary) []string {
	if r := recommend(p, sum); r != nil {
		return r.text()
	}
	if sum.complete && sum.conversations() > 0 && !p.isGrid() && !p.noRecommendation && !p.model.Priced() {
		return []string{"None: no prices are known for " + cmp.Or(terminal.Printable(p.model.Name), "this model") + "; give --price."}
	}
	return nil
}
