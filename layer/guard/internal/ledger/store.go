package ledger

import (
	"time"

	"github.com/adk-go-ext/longsession/tokens"
)

// storedState is what is known about an account in storage.
type storedState struct {
	loaded    bool
	confirmed version   // what storage had when it was last seen
	pending   []version // what was written after that, oldest first
	revision  int       // of the account when it was last written
}

// version is a state as it was written.
type version struct {
	text  string
	state State
}

// maxPending is how many versions are remembered that were not seen in storage.
const maxPending = 16

// find returns which version a text is: the index in pending, -1 for the confirmed one.
func (s *storedState) find(text string) (at int, found bool) {
	if text == s.confirmed.text {
		return -1, s.loaded
	}
	for i := len(s.pending) - 1; i >= 0; i-- {
		if s.pending[i].text == text {
			return i, true
		}
	}
	return 0, false
}

// confirm notes that a pending version is in storage.
func (s *storedState) confirm(at int) {
	if at >= 0 {
		s.confirmed = s.pending[at]
		s.pending = append(s.pending[:0:0], s.pending[at+1:]...)
	}
}

// Write returns the snapshot to store, and whether it has something that the last one had not.
func (a *Account) Write(now time.Time) (text string, changed bool) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	changed = a.revision != a.stored.revision || a.limits.Wall > 0
	if !changed && len(a.stored.pending) > 0 {
		return a.stored.pending[len(a.stored.pending)-1].text, false
	}
	if !changed && a.stored.confirmed.text != "" {
		return a.stored.confirmed.text, false
	}
	s := a.current(now)
	text = Encode(a.owner, s)
	if len(a.stored.pending) == maxPending {
		a.stored.pending = append(a.stored.pending[:0:0], a.stored.pending[1:]...)
	}
	a.stored.pending = append(a.stored.pending, version{text, s})
	a.stored.revision = a.revision
	return text, changed
}

// Saw notes what storage has. It reports whether the text is a version of this account, or none.
func (a *Account) Saw(text string) bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	at, found := a.stored.find(text)
	if found {
		a.stored.confirm(at)
	}
	return found || text == ""
}

// Loaded reports whether the account was loaded before.
func (a *Account) Loaded() bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	return a.stored.loaded
}

// Load takes over what storage has. What was counted here and is not stored yet is added to it. If storage
// has less than this process has seen there before, Load keeps the larger totals and returns false. A session
// without a snapshot is a new one: its text is "", and its state the zero value.
func (a *Account) Load(text string, stored State, now time.Time) bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	if text != "" && a.stored.loaded && !stored.AtLeast(a.stored.confirmed.state) {
		a.revision++ // so that the next event has ours
		return false
	}
	// Another process that has written more than a version of ours has read that version.
	for i := len(a.stored.pending) - 1; i >= 0; i-- {
		if text != "" && stored.AtLeast(a.stored.pending[i].state) {
			a.stored.confirm(i)
			break
		}
	}
	base := a.stored.confirmed.state
	base.Wall = min(base.Wall, a.state.Wall) // the stored time has that of running turns, too
	turnID, turn := a.state.TurnID, a.state.Turn
	a.state = a.state.onto(stored, base)
	if turnID != "" {
		a.state.TurnID, a.state.Turn = turnID, turn
	}
	a.stored = storedState{loaded: true, confirmed: version{text, stored.clone()}, revision: a.revision}
	if !stored.AtLeast(a.state) || a.state.Held != stored.Held || a.state.Landed != stored.Landed {
		a.revision++
	}
	a.tripped = a.landed() != "" || a.limits.plus(a.state.Granted).reached(a.scope, a.state.Total, a.wall(now)) != nil
	for _, t := range a.turns {
		if t.ended == 0 && t.spent.Calls == 0 {
			t.refused = a.heldStop()
		}
	}
	return true
}

// Grant adds to the bounds of the account, and forgets that a turn has reached its cost ceiling. If a bound
// stays reached, or the next call would be the last one again, Grant does nothing and returns it, with a sum to add.
//
// The function undo takes the grant back, for when it cannot be stored.
func (a *Account) Grant(more Limits, now time.Time) (still *Stop, missing Limits, undo func()) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	g := a.state.Granted
	granted := Limits{
		USD: tokens.Nano(add(int64(g.USD), int64(more.USD))), ModelCalls: add(g.ModelCalls, more.ModelCalls),
		Tokens: add(g.Tokens, more.Tokens), Wall: time.Duration(add(int64(g.Wall), int64(more.Wall))),
	}
	limits, wall := a.limits.plus(granted), a.wall(now)
	still = limits.reached(a.scope, a.state.Total, wall)
	if kind := a.landed(); still == nil && kind != "" && limits.landsAt(kind, a.state.Total, a.state.Last, wall) {
		still = limits.stop(kind, a.scope, a.state.Total, wall)
	}
	if still != nil {
		return still, limits.missing(a.state.Total, a.state.Last, wall), nil
	}
	held, landed, tripped := a.state.Held, a.state.Landed, a.state.Tripped
	a.state.Granted, a.state.Held, a.state.Landed, a.state.Tripped, a.tripped = granted, nil, nil, nil, false
	a.revision++
	for _, t := range a.turns {
		t.refused = nil
	}
	return nil, Limits{}, func() {
		a.book.mu.Lock()
		defer a.book.mu.Unlock()
		a.state.Granted, a.state.Held, a.state.Landed, a.state.Tripped = g, held, landed, tripped
		a.revision++
	}
}
