package ledger

import (
	"maps"
	"slices"
	"time"
)

// Recover charges what a subtask had used when its process ended: what its own session has stored, less what
// was charged for it before.
func (a *Account) Recover(child string, stored State, now time.Time) (s Settled) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	known, seen := a.state.Open[child]
	if !seen && stored.Total != (Amount{}) {
		a.state.Children++
	}
	for _, model := range slices.Sorted(maps.Keys(stored.Models)) {
		amount := stored.Models[model]
		more := amount.Minus(known)
		known = known.Minus(amount)
		if more == (Amount{}) {
			continue
		}
		_, unpriced := slices.BinarySearch(stored.Unpriced, model)
		charged := Payer{Account: a}.charge(now, model, Amount{}, more, unpriced, &a.state.Subtasks)
		a.state.SubtasksUnpriced = a.state.SubtasksUnpriced || unpriced
		a.state.open(child, Amount{}, more)
		s.Charged = s.Charged.Plus(more)
		s.Tripped = append(s.Tripped, charged.Tripped...)
		s.NewUnpriced = s.NewUnpriced || charged.NewUnpriced
	}
	return s
}

// Answered notes that the results of subtasks are about to be stored. ends reports whether a session is that of
// one of them.
func (a *Account) Answered(ends func(session string) bool) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	for id := range a.state.Open {
		if ends(id) {
			delete(a.state.Open, id)
			a.revision++
		}
	}
}
