package ledger

import "time"

// Decision is the answer to a wish to call a model. One of Call, Stop and Wait is set.
type Decision struct {
	Call *Call
	// Land: the call is the last one that fits under a bound.
	Land bool
	Stop *Stop
	// Wait is closed when a call in flight has ended. Then ask again.
	Wait <-chan struct{}
	// Tripped are bounds that are reached and were not reported before.
	Tripped []Stop
	// Left is how much time is left of the shortest limit, 0 if there is none.
	Left time.Duration
	// Limit is that limit, as it will be when it is reached.
	Limit *Stop
}

// Call is a call in flight.
type Call struct {
	payer    Payer
	estimate Amount
	charged  Amount
	flies    bool
	landings []landing
}

// landing is a bound that a call is the last one under.
type landing struct {
	account *Account
	turn    *TurnAccount // nil: of the account as a whole
	kind    Kind
}

// Reserve asks for a call. The guess is what it may use, if no call before it shows that. soft says that the last
// call under a bound is to be one that lands: then a call waits for those in flight also where only they would
// make it the last one.
func (p Payer) Reserve(now time.Time, guess Amount, soft bool) (d Decision) {
	b := p.Account.book
	b.mu.Lock()
	defer b.mu.Unlock()
	estimate := p.Account.state.Last
	if estimate.Calls == 0 {
		estimate = guess
	}
	estimate.Calls = 1
	wait := false
	var landings []landing
	p.meters(now, func(m meter) {
		stop := m.halted
		if stop == nil {
			stop = m.limits.reached(m.scope, m.spent, m.wall)
			d.trip(m, stop)
		}
		if d.Stop == nil {
			d.Stop = stop
		}
		wait = wait || m.limits.full(m.spent, *m.inFlight)
		if soft {
			kind, last := m.landed, p.Account.state.Last
			if kind == "" {
				kind = m.limits.lands(m.spent, last, m.wall)
			}
			if kind != "" {
				landings = append(landings, landing{m.account, m.turn, kind})
			}
			wait = wait || kind == "" && m.limits.lands(m.spent.Plus(*m.inFlight), last, m.wall) != ""
		}
		if left := m.limits.Wall - m.wall; m.limits.Wall > 0 && (d.Left == 0 || left < d.Left) {
			d.Left, d.Limit = left, &Stop{Kind: Wall, Scope: m.scope, Spent: m.limits.Wall.String(), Bound: m.limits.Wall.String()}
		}
	})
	switch {
	case d.Stop != nil:
	case wait:
		d.Wait = b.changed
	default:
		p.meters(now, func(m meter) { *m.inFlight = m.inFlight.Plus(estimate) })
		d.Call, d.Land = &Call{payer: p, estimate: estimate, flies: true, landings: landings}, len(landings) > 0
	}
	return d
}

// trip notes that a bound is reached.
func (d *Decision) trip(m meter, stop *Stop) {
	if stop == nil || *m.tripped {
		return
	}
	*m.tripped = true
	m.account.revision++
	d.Tripped = append(d.Tripped, *stop)
	m.keep(stop)
}

// keep writes a stop into what is stored.
func (m meter) keep(stop *Stop) {
	held := &Held{Spent: used(stop.Kind, m.spent, m.wall), Bound: m.limits.bound(stop.Kind), Stop: *stop}
	switch {
	case m.turn == nil:
		m.account.state.Tripped = stop
		if m.landed != "" {
			m.account.state.Landed = held
		}
	case m.holds(stop.Kind):
		held.Turn = m.turn.id
		m.account.state.Held = held
	}
}

// Land says that the call is sent as the last one that fits. The bounds that it is the last one under have tripped,
// whatever comes of it: they are reported when it ends. No later call of the same turn may call tools either.
func (c *Call) Land(now time.Time) {
	c.payer.Account.book.mu.Lock()
	defer c.payer.Account.book.mu.Unlock()
	for _, l := range c.landings {
		if l.turn != nil {
			l.turn.landed = l.kind
		} else if l.account.landed() == "" {
			bound := l.account.limits.plus(l.account.state.Granted).bound(l.kind)
			l.account.state.Landed = &Held{Bound: bound, Stop: Stop{Kind: l.kind, Scope: l.account.scope, Landed: true}}
		}
	}
	c.landings = nil
	c.payer.keepLandings(now)
}

// keepLandings writes what is used under the bounds that the last call was made under into what is stored. The
// caller holds book.mu.
func (p Payer) keepLandings(now time.Time) {
	p.meters(now, func(m meter) {
		if m.landed != "" {
			m.account.revision++
			m.keep(m.limits.stop(m.landed, m.scope, m.spent, m.wall))
		}
	})
}

// report returns the bounds that have tripped and were not reported before. The caller holds book.mu.
func (p Payer) report(now time.Time) []Stop {
	var d Decision
	p.meters(now, func(m meter) {
		d.trip(m, m.stop())
	})
	return d.Tripped
}

// arrive ends the flight of a call, so that others need not wait for it. The caller holds book.mu.
func (c *Call) arrive(now time.Time) {
	if !c.flies {
		return
	}
	c.flies = false
	c.payer.meters(now, func(m meter) { *m.inFlight = m.inFlight.Minus(c.estimate) })
	b := c.payer.Account.book
	close(b.changed)
	b.changed = make(chan struct{})
}

// Release ends a call that has used nothing. It returns the bounds that have tripped all the same, because it was
// the last call that fits.
func (c *Call) Release(now time.Time) []Stop {
	b := c.payer.Account.book
	b.mu.Lock()
	defer b.mu.Unlock()
	c.arrive(now)
	return c.payer.report(now)
}

// Settled is what came of a call.
type Settled struct {
	// Tripped are the bounds that the call has reached.
	Tripped []Stop
	// NewUnpriced reports whether the model has no price, and the session has not used it before.
	NewUnpriced bool
	// Charged is what was charged. Where a call was charged before, it is the difference, which may be negative.
	Charged Amount
}

// Settle charges what a call has used. If it is called again, the amount is that of the call as a whole, and takes
// the place of what was charged before.
func (c *Call) Settle(now time.Time, model string, a Amount, unpriced bool) Settled {
	b := c.payer.Account.book
	b.mu.Lock()
	defer b.mu.Unlock()
	c.arrive(now)
	a = a.cleaned()
	a.Calls = 1
	was := c.charged
	c.charged = a
	c.payer.Account.state.Last = a
	return c.payer.charge(now, model, was, a, unpriced, nil)
}

// Summary charges a call of the summarizer. It is never refused, but may reach a bound.
func (p Payer) Summary(now time.Time, model string, a Amount, unpriced bool) Settled {
	b := p.Account.book
	b.mu.Lock()
	defer b.mu.Unlock()
	return p.charge(now, model, Amount{}, a.cleaned(), unpriced, &p.Account.state.Summaries)
}

// charge charges an amount to everyone who pays, in place of what was charged for the same before. The caller holds
// book.mu.
func (p Payer) charge(now time.Time, model string, was, a Amount, unpriced bool, part *Amount) (s Settled) {
	if part != nil {
		*part = part.Corrected(was, a)
	}
	var below *Account
	for up := p; up.Account != nil; up = up.Account.parent {
		state := &up.Account.state
		if below != nil {
			state.open(below.owner.Session, was, a)
		}
		below = up.Account
		state.charge(model, was, a)
		up.Account.revision++
		if up.turn != nil {
			up.turn.spent = up.turn.spent.Corrected(was, a)
			if state.TurnID == up.turn.id {
				state.Turn = up.turn.spent
			}
		}
		if up.Account != p.Account {
			state.Subtasks = state.Subtasks.Corrected(was, a)
			state.SubtasksUnpriced = state.SubtasksUnpriced || unpriced
		}
		if unpriced && state.noteUnpriced(model) {
			s.NewUnpriced = true
		}
	}
	s.Charged = a.less(was)
	s.Tripped = p.report(now)
	p.keepLandings(now)
	return s
}
