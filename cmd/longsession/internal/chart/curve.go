package chart

import "slices"

// curve is what the page's script draws of a run. A long session has thousands of calls, and a grid
// many policies: so numbers stand in arrays, and what a conversation's first curve already says is
// left out of the others.
type curve struct {
	Policy int `json:"policy"`
	// Limit is the context window in tokens.
	Limit int `json:"limit"`
	// Turns and Without are of each call; nil if they are those of the section's first curve.
	Turns   []int `json:"turns,omitempty"`
	Without []int `json:"without,omitempty"`
	With    []int `json:"with"`
	// Marks are the calls before which the compactions happened, in order.
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
		}
		for j, k := range r.Compactions {
			c.Marks[j] = min(max(k.Call, 0), len(r.Calls))
		}
		if i > 0 && slices.Equal(c.Turns, out[0].Turns) && slices.Equal(c.Without, out[0].Without) {
			c.Turns, c.Without = nil, nil
		}
		out[i] = c
	}
	return out
}

// turnSize is the largest prompt of a turn, both ways: the curve as a table for readers without
// scripts.
type turnSize struct {
	Turn, Calls, Without, With int
}

// TurnSizes of a run, in order.
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
