package chart

import (
	"math"
	"slices"
)

// curve is the data from which the page's script draws a run. A long session has thousands of calls
// and a grid many policies, so the numbers are in arrays, and other curves leave out what they
// share with the first curve of a conversation.
type curve struct {
	Policy int `json:"policy"`
	// Limit is the context window in tokens.
	Limit int `json:"limit"`
	// Turns and Without have a value for each call; nil if equal to those of the first curve.
	Turns   []int `json:"turns,omitempty"`
	Without []int `json:"without,omitempty"`
	With    []int `json:"with"`
	// WithoutUSD and USD are what the conversation has cost by the end of each call, nil without prices. WithoutUSD is nil
	// if it is that of the first curve.
	WithoutUSD []float64 `json:"withoutUsd,omitempty"`
	USD        []float64 `json:"usd,omitempty"`
	// Marks are the calls that followed the compactions, in order.
	Marks []int `json:"marks"`
}

func curves(runs []run) []curve {
	out := make([]curve, len(runs))
	for i, r := range runs {
		c := curve{
			Policy:  r.Policy,
			Limit:   r.Limit,
			Turns:   make([]int, len(r.Calls)),
			Without: make([]int, len(r.Calls)),
			With:    make([]int, len(r.Calls)),
			Marks:   make([]int, len(r.Compactions)),
		}
		for j, call := range r.Calls {
			c.Turns[j], c.Without[j], c.With[j] = call.Turn, call.Without, call.With
			if r.With.Dollars > 0 {
				c.WithoutUSD, c.USD = append(c.WithoutUSD, rounded(call.WithoutUSD)), append(c.USD, rounded(call.WithUSD))
			}
		}
		for j, k := range r.Compactions {
			c.Marks[j] = min(max(k.Call, 0), len(r.Calls))
		}
		if i > 0 && slices.Equal(c.Turns, out[0].Turns) && slices.Equal(c.Without, out[0].Without) {
			c.Turns, c.Without = nil, nil
		}
		if i > 0 && slices.Equal(c.WithoutUSD, out[0].WithoutUSD) {
			c.WithoutUSD = nil
		}
		out[i] = c
	}
	return out
}

// rounded drops what no curve shows: less than a thousandth of a cent.
func rounded(usd float64) float64 { return math.Round(usd*1e5) / 1e5 }

// turnSize has the largest prompts of a turn. Readers without scripts get the curve as a table of
// turnSizes.
type turnSize struct {
	Turn, Calls, Without, With int
}

// TurnSizes returns the sizes of the turns of a run, in order.
func (r run) TurnSizes() []turnSize {
	var out []turnSize
	for _, call := range r.Calls {
		if len(out) == 0 || out[len(out)-1].Turn != call.Turn {
			out = append(out, turnSize{Turn: call.Turn})
		}
		t := &out[len(out)-1]
		t.Calls++
		t.Without, t.With = max(t.Without, call.Without), max(t.With, call.With)
	}
	return out
}
