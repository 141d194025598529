package chart

import (
	"math"
	"slices"

	"github.com/adk-go-ext/longsession/replay"
)

// Cost is the price of the prompts and of the summaries in US dollars or, if the agent's model has no
// prices, their size in tokens.
func Cost(with replay.Sent, s replay.Summaries, priced bool) float64 {
	if priced {
		return with.Dollars + s.Dollars
	}
	return float64(with.PromptTokens + s.PromptTokens + s.OutputTokens)
}

// SameCost reports whether two costs differ by no more than rounding errors: sums of the same prices
// in another order, such as 0.1 + 0.2 and 0.3.
func SameCost(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// Cheapest returns the indexes of the policies that cost least, which are several in a tie. Without
// any dollars it compares tokens.
func Cheapest(totals []replay.Total) (best []int) {
	priced := slices.ContainsFunc(totals, func(t replay.Total) bool { return t.Without.Dollars > 0 || t.With.Dollars > 0 })
	least := math.Inf(1)
	for _, t := range totals {
		least = min(least, Cost(t.With, t.Summarizer, priced))
	}
	for i, t := range totals {
		if SameCost(Cost(t.With, t.Summarizer, priced), least) {
			best = append(best, i)
		}
	}
	return best
}
