package ledger

import (
	"slices"
	"sync"
	"time"
)

// book is what an account shares with those of its subtasks.
type book struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever a call in flight has ended
}

// Account is the account of a session or a subtask. It is safe for concurrent use.
type Account struct {
	owner  Owner
	scope  Scope
	book   *book
	parent Payer // the zero value for a session
	opened time.Time

	// The fields below are guarded by book.mu.

	limits     Limits // without what was granted
	turnLimits Limits
	inFlight   Amount // estimates for the calls in flight
	tripped    bool   // reported
	halted     *Stop  // a subtask that was stopped by hand
	state      State
	turns      []*TurnAccount // newest last
	stored     storedState
	revision   int // goes up with each change that must be stored
}

// TurnAccount is a turn of an account. book.mu guards its fields.
type TurnAccount struct {
	id       string
	limits   Limits
	start    time.Time
	spent    Amount
	inFlight Amount
	tripped  bool // reported
	landed   Kind // the bound under which the last call was made, "" if there is none
	halted   *Stop
	refused  *Stop // it began while the account waited for a reset
	noted    bool
	refusals map[string]int // in each branch of each session
	ended    time.Duration  // how long it took; 0 while it runs
	waits    bool           // its run has not started: it takes no time
}

// runs reports whether the turn's run has started, and has not ended.
func (t *TurnAccount) runs() bool { return t.ended == 0 && !t.waits }

// Payer is who pays for a call: an account, and a turn of it. The zero value has no account.
type Payer struct {
	Account *Account
	turn    *TurnAccount
}

// Open opens the account of a session.
func Open(o Owner, session, turn Limits) *Account {
	return &Account{owner: o, scope: Session, book: &book{changed: make(chan struct{})}, limits: session, turnLimits: turn}
}

// Child opens the account of a subtask of p. If p has no account, only the subtask itself is charged.
func (p Payer) Child(o Owner, limits Limits, now time.Time) *Account {
	if p.Account == nil {
		return &Account{owner: o, scope: Subtask, book: &book{changed: make(chan struct{})}, opened: now, limits: limits}
	}
	b := p.Account.book
	b.mu.Lock()
	defer b.mu.Unlock()
	for up := p; up.Account != nil; up = up.Account.parent {
		up.Account.state.Children++
		up.Account.revision++
	}
	return &Account{owner: o, scope: Subtask, book: b, parent: p, opened: now, limits: limits}
}

// Owner is the session whose account it is.
func (a *Account) Owner() Owner { return a.owner }

// maxTurns is how many turns of one account are remembered. Running ones are kept beyond that, or they would
// begin anew with their next call; without the plugin, no turn ever ends.
const (
	maxTurns   = 32
	maxRunning = 1_024
)

// Begin returns the turn with an ID, and begins it if there is none. A call of an older turn may still come
// when the next one has begun.
func (a *Account) Begin(id string, now time.Time) (p Payer, began bool) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	for i := len(a.turns) - 1; i >= 0; i-- {
		if a.turns[i].id == id {
			return Payer{a, a.turns[i]}, false
		}
	}
	t := &TurnAccount{id: id, limits: a.turnLimits, start: now, refused: a.heldStop()}
	if len(a.turns) >= maxTurns {
		at := slices.IndexFunc(a.turns, func(t *TurnAccount) bool { return !t.runs() })
		if at < 0 && len(a.turns) >= maxRunning {
			at = 0
		}
		if at >= 0 {
			a.turns[at].end(a, now)
			a.turns = slices.Delete(slices.Clone(a.turns), at, at+1)
		}
	}
	a.turns = append(a.turns, t)
	a.state.TurnID, a.state.Turn = id, Amount{}
	return Payer{a, t}, true
}

// Forget forgets a turn that has ended. ADK v2 gives the run that answers a paused call the ID of the run that paused: it is
// a turn of its own all the same, because a person has spoken.
func (a *Account) Forget(id string) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	a.turns = slices.DeleteFunc(slices.Clone(a.turns), func(t *TurnAccount) bool { return t.id == id && t.ended > 0 })
}

// Turn returns the turn with an ID if it is running, else the newest one, else one that nothing is known of.
func (a *Account) Turn(id string) Payer {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	for i := len(a.turns) - 1; i >= 0; i-- {
		if a.turns[i].id == id {
			return Payer{a, a.turns[i]}
		}
	}
	if n := len(a.turns); n > 0 {
		return Payer{a, a.turns[n-1]}
	}
	return Payer{Account: a}
}

// Await says that the run of a turn may still fail to start. Until Start is called, the turn takes no time.
func (p Payer) Await() { p.setWaits(true, time.Time{}) }

// Start starts a turn that was awaited.
func (p Payer) Start(now time.Time) { p.setWaits(false, now) }

func (p Payer) setWaits(waits bool, start time.Time) {
	if p.turn == nil {
		return
	}
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	if p.turn.waits != waits {
		p.turn.waits, p.turn.start = waits, start
	}
}

// Running returns the turn with an ID if it is running, else the newest one that is. It reports whether there is
// one.
func (a *Account) Running(id string) (p Payer, ok bool) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	for _, t := range a.turns {
		if t.runs() && (!ok || p.turn.id != id) {
			p, ok = Payer{a, t}, true
		}
	}
	return p, ok
}

// Runs reports whether a turn is known and has not ended.
func (a *Account) Runs(id string) bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	for _, t := range a.turns {
		if t.id == id && t.ended == 0 {
			return true
		}
	}
	return false
}

// Busy reports whether a turn or a call of the account is running, or something is not stored yet.
func (a *Account) Busy() bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	if a.inFlight.Calls > 0 || a.revision != a.stored.revision {
		return true
	}
	for _, t := range a.turns {
		if t.runs() {
			return true
		}
	}
	return false
}

// Ended reports whether the account has had turns or charges, and no turn and no call of it is running.
func (a *Account) Ended() bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	for _, t := range a.turns {
		if t.runs() {
			return false
		}
	}
	return a.inFlight.Calls == 0 && a.revision > 0
}

// Unsaved reports whether something was counted that is not written, while no turn is running.
func (a *Account) Unsaved() bool {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	for _, t := range a.turns {
		if t.runs() {
			return false
		}
	}
	return a.revision != a.stored.revision
}

// End ends a turn.
func (p Payer) End(now time.Time) {
	if p.turn == nil {
		return
	}
	p.Account.book.mu.Lock()
	defer p.Account.book.mu.Unlock()
	p.turn.end(p.Account, now)
}

func (t *TurnAccount) end(a *Account, now time.Time) {
	if t.waits {
		t.start, t.waits = now, false
	}
	if t.ended == 0 {
		t.ended = max(1, now.Sub(t.start))
		a.state.Wall += t.ended
	}
}

// wall is how long a turn has taken.
func (t *TurnAccount) wall(now time.Time) time.Duration {
	if t.ended > 0 {
		return t.ended
	}
	if t.waits {
		return 0
	}
	return max(0, now.Sub(t.start))
}

// wall is how long the account's turns have taken together, or how long the subtask runs.
func (a *Account) wall(now time.Time) time.Duration {
	if a.scope == Subtask {
		return max(0, now.Sub(a.opened))
	}
	sum := a.state.Wall
	for _, t := range a.turns {
		if t.ended == 0 {
			sum += t.wall(now)
		}
	}
	return sum
}

// meter is one account or turn with its bounds.
type meter struct {
	scope    Scope
	limits   Limits
	spent    Amount
	inFlight *Amount
	tripped  *bool
	landed   Kind // as in TurnAccount
	halted   *Stop
	wall     time.Duration
	account  *Account
	turn     *TurnAccount // nil: the account as a whole
}

// holds reports whether the next turn waits for a reset after a bound of that kind has tripped.
func (m meter) holds(kind Kind) bool {
	return m.turn == nil || kind == Cost && m.account.scope == Session
}

// stop returns the bound that is reached, or that a last call was made under, nil if there is none. Of two it is the one
// that the next turn waits for.
func (m meter) stop() *Stop {
	reached := m.limits.reached(m.scope, m.spent, m.wall)
	if m.landed == "" || reached != nil && (m.holds(reached.Kind) || !m.holds(m.landed)) {
		return reached
	}
	return m.limits.stop(m.landed, m.scope, m.spent, m.wall)
}

// meters calls f with everything that pays for a call, innermost first. The caller holds book.mu.
func (p Payer) meters(now time.Time, f func(meter)) {
	for p.Account != nil {
		a, t := p.Account, p.turn
		if t != nil {
			halted := t.halted
			if halted == nil {
				halted = t.refused
			}
			f(meter{Turn, t.limits, t.spent, &t.inFlight, &t.tripped, t.landed, halted, t.wall(now), a, t})
		}
		f(meter{a.scope, a.limits.plus(a.state.Granted), a.state.Total, &a.inFlight, &a.tripped, a.landed(), a.halted, a.wall(now), a, nil})
		p = a.parent
	}
}

// heldStop is why the next turn is refused until a reset, nil if it is not.
func (a *Account) heldStop() *Stop {
	switch {
	case a.state.Held.under(int64(a.turnLimits.USD)):
		stop := a.state.Held.Stop
		return &stop
	case a.landed() != "":
		stop := a.state.Landed.Stop
		return &stop
	}
	return nil
}

// landed is the bound of the account under which its last call was made, "" if there is none.
func (a *Account) landed() Kind {
	landed := a.state.Landed
	if landed == nil || !landed.under(a.limits.plus(a.state.Granted).bound(landed.Stop.Kind)) {
		return ""
	}
	return landed.Stop.Kind
}
