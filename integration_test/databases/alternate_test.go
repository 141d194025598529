package databases_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// onServers runs f over every engine, with compaction and with ADK alone.
func onServers(t *testing.T, f func(t *testing.T, s *store, bare bool)) {
	t.Helper()
	for _, e := range engines(t) {
		for _, bare := range []bool{true, false} {
			name := e.name + "/compacted"
			if bare {
				name = e.name + "/ADK alone"
			}
			t.Run(name, func(t *testing.T) { f(t, newStore(t, e), bare) })
		}
	}
}

// turnsPerSession limits what one Get of ADK's service has to read.
const turnsPerSession = 100

// Two processes share sessions but never run two turns at once. ADK's append reads the session's
// row and, three statements later, writes the whole row. So if one process stores a record during a
// turn of the other, it may undo the turn's state, make the turn's handle stale, or cause a
// deadlock.
func TestAlternatingProcessesLoseNothing(t *testing.T) {
	onServers(t, func(t *testing.T, s *store, bare bool) {
		turns := long(300, 1000)
		if s.engine == &postgreSQL && !bare {
			turns = long(300, 2000)
		}
		found := alternate(t, s, bare, turns)
		t.Log(found)
		found.mustBeClean(t)
		if !bare && found.records < found.turns/10 { // on a busy machine a summary is for more turns
			t.Errorf("%d records are stored for %d turns", found.records, found.turns)
		}
	})
}

// alternate runs turns in two processes, strictly in sequence, in consecutive sessions.
func alternate(t *testing.T, s *store, bare bool, turns int) tally {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	both := startProcesses(t, s, bare)
	found := tally{turns: turns}
	var acknowledged []int
	for turn := range turns {
		id := fmt.Sprint(turn / turnsPerSession)
		if turn%turnsPerSession == 0 {
			createSession(ctx, t, s.sessions, id)
			acknowledged = nil
		}
		r := both[turn%2].do(order{Do: "turn", Session: id, Turn: turn})
		if r.Err != "" {
			t.Logf("turn %d failed: %s", turn, r.Err)
			found.failed++
		} else {
			found.lostFacts += missing(r.Facts, acknowledged)
			acknowledged = append(acknowledged, turn)
		}
		switch {
		case turn+1 == turns || (turn+1)%turnsPerSession == 0:
			for _, p := range both {
				if r := p.do(order{Do: "flush", Session: id}); r.Err != "" {
					t.Errorf("flush: %s", r.Err)
				}
			}
			found.add(inspect(ctx, t, s.sessions, id, acknowledged))
		case turn%20 == 0: // check storage and view, even while jobs are running
			found.lostFacts += inspect(ctx, t, s.sessions, id, acknowledged).lostFacts
		}
	}
	for _, p := range both {
		if r := p.do(order{Do: "close"}); r.Err != "" {
			t.Errorf("close: %s", r.Err)
		}
		found.calls += p.earlier + p.calls
	}
	return found
}

// Two processes alternate, and some are killed between turns and during turns. Everything that the
// dead process acknowledged is stored, and the other process continues, as with ADK alone.
func TestKilledProcessesLoseNothingElse(t *testing.T) {
	onServers(t, func(t *testing.T, s *store, bare bool) {
		found := alternateAndKill(t, s, bare, long(40, 150))
		t.Log(found)
		found.mustBeClean(t)
		if found.killed == 0 || !bare && found.records == 0 {
			t.Errorf("nothing happened: %s", found)
		}
	})
}

// fate is what happens to the process of a turn.
type fate int

const (
	lives         fate = iota
	diesAfter          // after the turn was acknowledged: a job is running, or a draft is waiting
	diesAsking         // while the model is called
	diesAnswering      // some time after the model was called: the answer is being stored, or the job is running
	diesSomewhere      // some time after the turn began
)

// fateOf is an arbitrary but fixed sequence in which about every third turn is killed.
func fateOf(turn int) fate {
	switch turn % 11 {
	case 3, 8:
		return diesAfter
	case 5:
		return diesAsking
	case 7:
		return diesAnswering
	case 10:
		return diesSomewhere
	}
	return lives
}

func alternateAndKill(t *testing.T, s *store, bare bool, turns int) tally {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	both := startProcesses(t, s, bare)
	createSession(ctx, t, s.sessions, "killed")
	found := tally{turns: turns}
	var acknowledged []int
	for turn := range turns {
		p := both[turn%2]
		r, ok := p.takeTo(fateOf(turn), order{Do: "turn", Session: "killed", Turn: turn})
		switch {
		case !ok:
			found.killed++
		case r.Err != "":
			t.Logf("turn %d failed: %s", turn, r.Err)
			found.failed++
		default:
			found.lostFacts += missing(r.Facts, acknowledged)
			acknowledged = append(acknowledged, turn)
		}
	}
	for _, p := range both {
		if r := p.do(order{Do: "flush", Session: "killed"}); r.Err != "" {
			t.Errorf("flush: %s", r.Err)
		}
		found.calls += p.earlier + p.calls
	}
	found.add(inspect(ctx, t, s.sessions, "killed", slices.Clone(acknowledged)))
	return found
}
