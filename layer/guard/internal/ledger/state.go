package ledger

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// State is what an account stores.
type State struct {
	Total    Amount
	Models   map[string]Amount
	Unpriced []string // sorted
	Subtasks Amount
	// SubtasksUnpriced: Subtasks leaves out the cost of models without prices.
	SubtasksUnpriced bool
	Children         int // how many subtasks
	Summaries        Amount
	Last             Amount // the last call that an agent of the account itself has made
	Wall             time.Duration
	Granted          Limits
	Held             *Held // the turn that has reached its cost ceiling, or has landed under it
	Landed           *Held // the last call under a bound of the account itself
	Tripped          *Stop
	// Open is what subtasks have used whose results are not stored yet, by session: their part of the totals.
	Open   map[string]Amount
	TurnID string
	Turn   Amount // of the newest turn
}

// Held is why the next turn waits for a reset. It is never changed, because copies of a state share it.
type Held struct {
	Turn  string `json:"turn"`
	Spent int64  `json:"spent"`           // nano-dollars, calls, tokens or nanoseconds
	Bound int64  `json:"bound,omitempty"` // in the same unit
	Stop  Stop   `json:"stop"`
}

// under reports whether it still holds under a bound: a higher one than then, and than what was used, lifts it.
func (h *Held) under(bound int64) bool {
	return h != nil && bound > 0 && bound <= max(h.Spent, h.Bound)
}

// maxModels is how many models are counted by name. The rest is counted under otherModels.
const (
	maxModels   = 32
	maxName     = 100
	otherModels = "other models"
)

func (s *State) charge(model string, was, a Amount) {
	s.Total = s.Total.Corrected(was, a)
	if s.Models == nil {
		s.Models = map[string]Amount{}
	}
	model = s.name(model)
	s.Models[model] = s.Models[model].Corrected(was, a)
}

// name is the name under which a model is counted.
func (s *State) name(model string) string {
	model = short(model)
	if _, known := s.Models[model]; !known && len(s.Models) >= maxModels {
		return otherModels
	}
	return model
}

// noteUnpriced notes a model without prices, and reports whether it is new.
func (s *State) noteUnpriced(model string) bool {
	model = short(model)
	at, known := slices.BinarySearch(s.Unpriced, model)
	if known || len(s.Unpriced) >= maxModels {
		return false
	}
	s.Unpriced = slices.Insert(slices.Clone(s.Unpriced), at, model)
	return true
}

// maxOpen is how many subtasks are kept apart.
const maxOpen = 64

// open notes a part of a subtask, in place of what was noted of the same before.
func (s *State) open(id string, was, a Amount) {
	if _, known := s.Open[id]; !known && len(s.Open) >= maxOpen {
		return
	}
	if s.Open == nil {
		s.Open = map[string]Amount{}
	}
	s.Open[id] = s.Open[id].Corrected(was, a)
}

// short returns a name as it is stored.
func short(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxName)], "") }

// clone returns a copy that shares nothing that changes.
func (s State) clone() State {
	s.Models = maps.Clone(s.Models)
	s.Open = maps.Clone(s.Open)
	s.Unpriced = slices.Clone(s.Unpriced)
	return s
}

// AtLeast reports whether s has counted everything that base has.
func (s State) AtLeast(base State) bool {
	if !s.Total.AtLeast(base.Total) || s.Children < base.Children || !s.Subtasks.AtLeast(base.Subtasks) || !s.Summaries.AtLeast(base.Summaries) {
		return false
	}
	for name, amount := range base.Models {
		if !s.Models[name].AtLeast(amount) {
			return false
		}
	}
	return true
}

// onto returns theirs and what s has counted since base.
func (s State) onto(theirs, base State) State {
	out := theirs.clone()
	if out.Models == nil {
		out.Models = map[string]Amount{}
	}
	for name, amount := range s.Models {
		if more := amount.Minus(base.Models[name]); more != (Amount{}) {
			out.charge(name, Amount{}, more)
		}
	}
	for _, name := range s.Unpriced {
		out.noteUnpriced(name)
	}
	out.Subtasks = out.Subtasks.Plus(s.Subtasks.Minus(base.Subtasks))
	out.SubtasksUnpriced = out.SubtasksUnpriced || s.SubtasksUnpriced
	out.Summaries = out.Summaries.Plus(s.Summaries.Minus(base.Summaries))
	out.Children += max(0, s.Children-base.Children)
	out.Wall += max(0, s.Wall-base.Wall)
	for id, amount := range s.Open {
		if more := amount.Minus(base.Open[id]); more != (Amount{}) {
			out.open(id, Amount{}, more)
		}
	}
	for id := range base.Open {
		if _, still := s.Open[id]; !still {
			delete(out.Open, id)
		}
	}
	if s.Total != base.Total {
		out.Last = s.Last
	}
	if s.Held != nil && (base.Held == nil || s.Held.Turn != base.Held.Turn) {
		out.Held = s.Held
	}
	if s.Landed != nil && base.Landed == nil {
		out.Landed = s.Landed
	}
	return out
}
