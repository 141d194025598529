package integration_test

import (
	"slices"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// ledger records every fact of a session, and who may know it.
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

// number returns an unused number.
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

// forget drops a fact that prompts need not contain anymore.
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

// where returns the facts that satisfy a condition.
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

// keepStored drops the facts that are not in storage, because an interrupted turn may not have
// stored its tools' results.
func (l *ledger) keepStored(events []*session.Event) {
	var stored []string
	for _, ev := range events {
		stored = append(stored, histories.FactsIn(ev)...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts = slices.DeleteFunc(l.facts, func(f told) bool { return !slices.Contains(stored, f.fact) })
}
