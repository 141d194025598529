package replaycmd

import (
	"testing"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestASentenceSumsARunUp(t *testing.T) {
	t.Parallel()
	total := func(without, with int, usdWithout, usdWith float64) replay.Total {
		return replay.Total{Conversations: 5, Compactions: 3,
			Without: replay.Sent{PromptTokens: without, Dollars: usdWithout}, With: replay.Sent{PromptTokens: with, Dollars: usdWith}}
	}
	for name, c := range map[string]struct {
		total   replay.Total
		summary summary
		change  func(*replay.Total)
		want    string
	}{
		"it saves":       {total: total(1000, 160, 1.13, .18), want: "Saves 84% of the prompt tokens, $0.95 of $1.13, over 5 conversations; nothing was lost."},
		"small amounts":  {total: total(1000, 600, .0575, .0515), want: "Saves 40% of the prompt tokens, $0.0060 of $0.058, over 5 conversations; nothing was lost."},
		"large amounts":  {total: total(1000, 600, 12345.6, 345.6), want: "Saves 40% of the prompt tokens, $12,000.00 of $12,345.60, over 5 conversations; nothing was lost."},
		"one":            {total: total(1000, 160, 1.13, .18), change: func(t *replay.Total) { t.Conversations = 1 }, want: "Saves 84% of the prompt tokens, $0.95 of $1.13, over 1 conversation; nothing was lost."},
		"the cache wins": {total: total(1000, 900, .10, .12), want: "Saves 10% of the prompt tokens but costs $0.020 more than $0.10 over 5 conversations; nothing was lost."},
		"the summaries win": {total: total(1000, 900, 1, .9), change: func(t *replay.Total) { t.Summarizer.Dollars = .5 },
			want: "Saves 10% of the prompt tokens but costs $0.40 more than $1.00 over 5 conversations; nothing was lost."},
		"longer prompts":   {total: total(1000, 1030, 1, 1.2), want: "Sends 3% more prompt tokens and costs $0.20 more than $1.00 over 5 conversations; nothing was lost."},
		"much longer ones": {total: total(1000, 3500, 1, 1.2), want: "Sends 250% more prompt tokens and costs $0.20 more than $1.00 over 5 conversations; nothing was lost."},
		"longer, cheaper":  {total: total(1000, 1030, 1, .9), want: "Sends 3% more prompt tokens but saves $0.10 of $1.00 over 5 conversations; nothing was lost."},
		"the same":         {total: total(1000, 1000, 1, 1), want: "Saves no prompt tokens over 5 conversations; nothing was lost."},
		"never":            {total: total(1000, 1000, 1, 1), change: func(t *replay.Total) { t.Compactions = 0 }, want: "Never compacts and saves no prompt tokens over 5 conversations; nothing was lost."},
		"the same, dearer": {total: total(1000, 1000, 1, 1.5), want: "Saves no prompt tokens and costs $0.50 more than $1.00 over 5 conversations; nothing was lost."},
		"no prices":        {total: total(1000, 160, 0, 0), want: "Saves 84% of the prompt tokens over 5 conversations; nothing was lost."},
		"almost nothing":   {total: total(100_000, 99_999, 0, 0), want: "Saves less than 0.1% of the prompt tokens over 5 conversations; nothing was lost."},
		"almost all":       {total: total(100_000, 1, 0, 0), want: "Saves over 99.9% of the prompt tokens over 5 conversations; nothing was lost."},
		"little":           {total: total(1000, 996, 0, 0), want: "Saves 0.4% of the prompt tokens over 5 conversations; nothing was lost."},
		"a lot":            {total: total(1000, 4, 0, 0), want: "Saves 99.6% of the prompt tokens over 5 conversations; nothing was lost."},
		"one orphan": {total: total(1000, 160, 0, 0), change: func(t *replay.Total) { t.Orphans = 1 }, summary: summary{findings: 1},
			want: "Saves 84% of the prompt tokens over 5 conversations; lost: 1 orphaned call or result; see 1 finding below."},
		"orphans and hidden events": {total: total(1000, 160, 0, 0), change: func(t *replay.Total) { t.Orphans, t.Hidden = 2, 1 }, summary: summary{findings: 2},
			want: "Saves 84% of the prompt tokens over 5 conversations; lost: 2 orphaned calls or results, 1 violation of the rules for a view; see 2 findings below."},
		"facts": {total: total(1000, 160, 0, 0), change: func(t *replay.Total) { t.Facts = &replay.Facts{Questions: 20, Kept: 17} },
			want: "Saves 84% of the prompt tokens over 5 conversations; no call or event was lost, but 3 of 20 questions cannot be answered from the last prompt."},
		"all facts": {total: total(1000, 160, 0, 0), change: func(t *replay.Total) { t.Facts = &replay.Facts{Questions: 20, Kept: 20} },
			want: "Saves 84% of the prompt tokens over 5 conversations; nothing was lost."},
		"one failed": {total: total(1000, 160, 0, 0), summary: summary{leftOut: 1}, want: "Saves 84% of the prompt tokens over 5 conversations; nothing was lost; 1 conversation was left out."},
		"two failed": {total: total(1000, 160, 0, 0), summary: summary{leftOut: 2}, want: "Saves 84% of the prompt tokens over 5 conversations; nothing was lost; 2 conversations were left out."},
		"none":       {total: replay.Total{}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &plan{flags: &flags{}}
			if c.total.Without.Dollars > 0 {
				p.model = tokens.Model{InputPrice: 1, OutputPrice: 1}
			}
			if c.change != nil {
				c.change(&c.total)
			}
			sum := c.summary
			sum.complete, sum.totals = true, []replay.Total{c.total}
			if got := conclusion(p, &sum); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	sum := &summary{totals: []replay.Total{total(1000, 160, 0, 0)}}
	if got, want := conclusion(&plan{flags: &flags{}}, sum), "Saves 84% of the prompt tokens over the 5 conversations played so far; nothing was lost."; got != want {
		t.Errorf("cut short: %s, want %s", got, want)
	}
}

func TestTiesInAGridAreSaid(t *testing.T) {
	t.Parallel()
	priced := &plan{flags: &flags{grid: []axis{{key: "threshold"}}}, model: tokens.Model{InputPrice: 1, OutputPrice: 1}}
	total := func(policy string, usd float64) replay.Total {
		return replay.Total{Policy: policy, Conversations: 2, Compactions: 1, Without: replay.Sent{PromptTokens: 100, Dollars: 1}, With: replay.Sent{PromptTokens: 50, Dollars: usd}}
	}
	for name, c := range map[string]struct {
		costs []float64
		want  string
	}{
		"none":               {[]float64{.9, .5, .7}, "Cheapest: b. It saves"},
		"two":                {[]float64{.5, .9, .5}, "Cheapest, a tie: a and c. Each saves"},
		"by rounding":        {[]float64{.1 + .2, .3, .9}, "Cheapest, a tie: a and b. Each saves"},
		"a little less":      {[]float64{.5, .49999, .9}, "Cheapest: b. It saves"},
		"all":                {[]float64{.5, .5, .5}, "All 3 policies tie: none is cheaper than another. Each saves"},
		"all of two":         {[]float64{.5, .5}, "Cheapest, a tie: a and b. Each saves"},
		"one alone":          {[]float64{.5}, "Cheapest: a. It saves"},
		"more than are told": {[]float64{.5, .5, .5, .5, .5, .9}, "Cheapest, a tie: a, b, c and 2 others. Each saves"},
		"one more":           {[]float64{.5, .5, .5, .5, .9}, "Cheapest, a tie: a, b, c and 1 other. Each saves"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sum := &summary{complete: true}
			for i, cost := range c.costs {
				sum.totals = append(sum.totals, total(string(rune('a'+i)), cost))
			}
			got := conclusion(priced, sum)
			if len(got) < len(c.want) || got[:len(c.want)] != c.want {
				t.Errorf("got %s, want %s…", got, c.want)
			}
		})
	}
}
