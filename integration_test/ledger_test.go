package integration_test

import (
	"slices"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// ledger remembers every fact that was told in a session, and who may know it.
type ledger struct {
	mu    sync.Mutex
	last  int
	turn  int
	facts []told
}

type told struct {
	fact   string
	branch string
	teller string // "user", or the agent whose tool returned it
	turn   int
}

// number returns a number that no fact has yet.
func (l *ledger) number() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return l.last
}

func (l *ledger) tell(fact, branch, teller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts = append(l.facts, told{fact, branch, teller, l.turn})
}

// forget drops a fact that a prompt need not hold any more.
func (l *ledger) forget(fact string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts = slices.DeleteFunc(l.facts, func(f told) bool { return f.fact == fact })
}

func (l *ledger) nextTurn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
}

// where returns the facts that a condition holds for.
func (l *ledger) where(holds func(told, int) bool) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, f := range l.facts {
		if holds(f, l.turn) {
			out = append(out, f.fact)
		}
	}
	return out
}

// keepStored forgets the facts that are not in storage: an interrupted turn may not have stored what
// its tools returned.
func (l *ledger) keepStored(events []*session.Event) {
	var stored []string
	for _, ev := range events {
		stored = append(stored, compactiontest.FactsIn(ev)...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts = slices.DeleteFunc(l.facts, func(f told) bool { return !slices.Contains(stored, f.fact) })
}
