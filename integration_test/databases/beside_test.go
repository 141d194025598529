package databases_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// besideTurn begins a turn's append that sets state, holds it in the middle of its transaction, begins a second append, and
// lets both go on. The append has read the session's row by then, and writes it afterwards.
func besideTurn(t *testing.T, s *store, turn, second func() error) (turnErr, secondErr error) {
	t.Helper()
	ctx := t.Context()
	gate, err := s.pool(t).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	lock, unlock := []string{"BEGIN", "LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE"}, "COMMIT"
	if s.engine == &mariaDB {
		lock, unlock = []string{"LOCK TABLES events WRITE"}, "UNLOCK TABLES"
	}
	for _, statement := range lock {
		if _, err := gate.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	both.Go(func() { turnErr = turn() })
	s.awaitWaiting(t, 1)
	both.Go(func() { secondErr = second() })
	s.awaitWaiting(t, 2)
	if _, err := gate.ExecContext(ctx, unlock); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	return turnErr, secondErr
}

// awaitWaiting waits until so many connections wait for a lock.
func (s *store) awaitWaiting(t *testing.T, n int) {
	t.Helper()
	waiting := "SELECT count(*) FROM pg_stat_activity WHERE datname = '%s' AND wait_event_type = 'Lock'"
	if s.engine == &mariaDB {
		waiting = "SELECT count(*) FROM information_schema.processlist WHERE db = '%s' AND state LIKE '%%lock%%'"
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		have := number(t, s.admin, fmt.Sprintf(waiting, s.name))
		if have >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections wait, want %d", have, n)
		}
	}
}

// beside is a session with a few turns, and a record over the first two of its events.
type beside struct {
	history *compactiontest.History
	live    session.Session
	record  *session.Event
}

func newBeside(t *testing.T, service session.Service) *beside {
	t.Helper()
	b := &beside{history: &compactiontest.History{}}
	createSession(t.Context(), t, service, "s")
	b.live = b.read(t, service)
	b.history.Turns(3, "agent")
	for _, ev := range b.history.Events {
		if err := service.AppendEvent(t.Context(), b.live, ev); err != nil {
			t.Fatal(err)
		}
	}
	b.record = b.history.Record("r1", compactiontest.IDs(b.history.Events[:2])...)
	return b
}

func (b *beside) read(t *testing.T, service session.Service) session.Session {
	t.Helper()
	resp, err := service.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

// stateOf is the session's stored state.
func (b *beside) stateOf(t *testing.T, service session.Service, key string) any {
	t.Helper()
	value, err := b.read(t, service).State().Get(key)
	if err != nil && !errors.Is(err, session.ErrStateKeyNotExist) {
		t.Fatal(err)
	}
	return value
}

// next is the event of a turn that sets state.
func (b *beside) next() *session.Event {
	ev := b.history.User("inv9", "The colour is blue.").Last()
	ev.Actions.StateDelta = map[string]any{"colour": "blue"}
	return ev
}

// TestARecordBesideATurnTakesNothingBack: neither the state that the turn sets, nor its handle, nor the turn itself.
func TestARecordBesideATurnTakesNothingBack(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		service := s.shared(t)
		b := newBeside(t, service)
		turnErr, recordErr := besideTurn(t, s,
			func() error { return service.AppendEvent(t.Context(), b.live, b.next()) },
			func() error { return service.AppendRecord(t.Context(), b.live, b.record) })
		if turnErr != nil || recordErr != nil {
			t.Fatalf("turn: %v; record: %v", turnErr, recordErr)
		}
		if got := b.stateOf(t, service, "colour"); got != "blue" {
			t.Errorf("the turn's state is %v, want blue", got)
		}
		if err := service.AppendEvent(t.Context(), b.live, b.history.Agent("inv9", "agent", "Noted.").Last()); err != nil {
			t.Errorf("the turn cannot go on: %v", err)
		}
		if found, err := service.Records(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "s"}); err != nil || len(found) != 1 {
			t.Errorf("%d records, %v", len(found), err)
		}
	})
}

// TestPinAnAppendBesideATurnTakesItsStateBack is why records are not appended like events. Which of the two goes on first is
// the server's choice, and only if it is the turn, the turn loses.
func TestPinAnAppendBesideATurnTakesItsStateBack(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			for range 30 {
				s := newStore(t, e)
				b := newBeside(t, s.sessions)
				other := b.read(t, s.sessions)
				b.record.Timestamp = other.LastUpdateTime()
				turnErr, recordErr := besideTurn(t, s,
					func() error { return s.sessions.AppendEvent(t.Context(), b.live, b.next()) },
					func() error { return s.sessions.AppendEvent(t.Context(), other, b.record) })
				lost := b.stateOf(t, s.sessions, "colour") != "blue"
				if turnErr != nil || recordErr != nil || lost {
					t.Logf("turn: %v; record: %v; state lost: %t", turnErr, recordErr, lost)
					return
				}
			}
			t.Error("30 times both were stored, and no state was lost: AppendRecord may not be needed any more")
		})
	}
}
