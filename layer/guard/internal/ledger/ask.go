package ledger

import "time"

// Stopped returns the bound that would refuse a call now, nil if none would.
func (p Payer) Stopped(now time.Time) (stop *Stop) {
	if p.Account == nil {
		return nil
	}
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	p.meters(now, func(m meter) {
		if stop == nil {
			stop = m.halted
		}
		if stop == nil {
			stop = m.limits.reached(m.scope, m.spent, m.wall)
		}
	})
	return stop
}

// Tripped returns the bound that the turn, or what it is a part of, has reached, or under which its last call was
// made, nil if there is none: of several, one that the next turn waits for, if there is such a one. It reports whether
// a last call was made.
func (p Payer) Tripped(now time.Time) (stop *Stop, landed bool) {
	if p.Account == nil {
		return nil, false
	}
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	lasts := false
	p.meters(now, func(m meter) {
		landed = landed || m.landed != ""
		found := m.halted
		if found == nil {
			found = m.stop()
		}
		if found != nil && (stop == nil || !lasts && m.holds(found.Kind)) {
			stop, lasts = found, m.holds(found.Kind)
		}
	})
	return stop, landed
}

// Refuses returns the bound that would refuse the next turn, nil if none would.
func (a *Account) Refuses(now time.Time) *Stop {
	a.book.mu.Lock()
	if stop := a.heldStop(); stop != nil {
		a.book.mu.Unlock()
		return stop
	}
	a.book.mu.Unlock()
	return Payer{Account: a}.Stopped(now)
}

// Halt stops a turn, or the whole subtask if there is no turn. It reports whether it was not stopped before.
func (p Payer) Halt(stop Stop) bool {
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	halted := &p.Account.halted
	if p.turn != nil {
		halted = &p.turn.halted
	} else if p.Account.scope == Session {
		return false
	}
	if *halted != nil {
		return false
	}
	*halted = &stop
	return true
}

// Refused counts one more refused call in a place of the turn, and returns how many there were.
func (p Payer) Refused(place string) int {
	if p.turn == nil {
		return 1
	}
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	if p.turn.refusals == nil {
		p.turn.refusals = map[string]int{}
	}
	p.turn.refusals[place]++
	return p.turn.refusals[place]
}

// Outlook is what the next call can expect.
type Outlook struct {
	Lands bool
	Use   Use  // of the bound that is closest to being reached
	Noted bool // NoteOnce was called for the turn
}

// Outlook looks ahead to the next call.
func (p Payer) Outlook(now time.Time) (o Outlook) {
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	p.meters(now, func(m meter) {
		o.Lands = o.Lands || m.landed != "" || m.limits.lands(m.spent.Plus(*m.inFlight), p.Account.state.Last, m.wall) != ""
		if use := m.limits.mostUsed(m.scope, m.spent, m.wall); use.Share > o.Use.Share {
			o.Use = use
		}
	})
	o.Noted = p.turn == nil || p.turn.noted
	return o
}

// NoteOnce reports whether it is the first call for a turn.
func (p Payer) NoteOnce() bool {
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	if p.turn == nil || p.turn.noted {
		return false
	}
	p.turn.noted = true
	return true
}

// Left is what is left for the next calls, of the tightest of each kind of bound. 0 means no bound.
func (p Payer) Left(now time.Time) (left Limits) {
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	p.meters(now, func(m meter) { left = left.tighter(m.limits.left(m.spent.Plus(*m.inFlight), m.wall)) })
	return left
}

// InFlight is how many calls of the turn are in flight. The channel is closed when that has changed.
func (p Payer) InFlight() (int, <-chan struct{}) {
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	if p.turn == nil {
		return p.Account.inFlight.Calls, p.Account.book.changed
	}
	return p.turn.inFlight.Calls, p.Account.book.changed
}

// TurnID is the ID of the turn, "" if there is none.
func (p Payer) TurnID() string {
	if p.turn == nil {
		return ""
	}
	return p.turn.id
}

// Limited reports whether a bound in money or tokens applies to a call.
func (p Payer) Limited() (limited bool) {
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	for up := p; up.Account != nil; up = up.Account.parent {
		limited = limited || up.Account.limits.USD > 0 || up.Account.limits.Tokens > 0 || up.turn != nil && (up.turn.limits.USD > 0 || up.turn.limits.Tokens > 0)
	}
	return limited
}

// First reports whether the account's own agents have not made a call yet.
func (a *Account) First() bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	return a.state.Last.Calls == 0
}

// State returns a copy of what the account has counted.
func (a *Account) State(now time.Time) State {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	return a.current(now)
}

// current is the state as it is stored: with the time of turns that are still running.
func (a *Account) current(now time.Time) State {
	s := a.state.clone()
	if a.scope == Session {
		s.Wall = a.wall(now)
	}
	return s
}
