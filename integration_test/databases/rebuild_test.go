package databases_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// number returns what a query counts.
func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const validIndexes = "SELECT count(*) FROM pg_index WHERE indisvalid AND indexrelid = to_regclass('longsession_events_by_time')"

// TestAnInterruptedInstallGoesOn after any of its three steps: the tables, the index, the rows of sessions.
func TestAnInterruptedInstallGoesOn(t *testing.T) {
	s := newStore(t, &postgreSQL)
	db := s.pool(t)
	talked(t, around(t, s.sessions, db), 12, "one", "two")

	// A transaction that stays open keeps Install from the tables until its context ends.
	busy, err := s.pool(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := busy.ExecContext(t.Context(), "LOCK TABLE events IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithTimeout(t.Context(), time.Second)
	if err := adkdb.Install(ended, db); err == nil {
		t.Error("Install creates triggers on a table that a transaction writes")
	}
	cancel()
	if n := number(t, db, "SELECT count(*) FROM pg_class WHERE relname LIKE 'longsession_%' AND relname NOT LIKE 'longsession_leases%'"); n != 0 {
		t.Errorf("%d tables or indexes are left after Install gave up", n)
	}
	if err := busy.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := adkdb.Install(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)

	for name, left := range map[string][]string{
		"no index":          {"DROP INDEX longsession_events_by_time"},
		"an invalid index":  {"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'longsession_events_by_time'::regclass"},
		"no rows":           {"DELETE FROM longsession_sessions"},
		"rows of one":       {"DELETE FROM longsession_sessions WHERE session_id = 'two'"},
		"an unfilled one":   {"DELETE FROM longsession_visible", "UPDATE longsession_sessions SET state = 'pending'"},
		"nothing was amiss": nil,
	} {
		s.exec(t, left...)
		if err := adkdb.Install(t.Context(), db); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if number(t, db, validIndexes) != 1 {
			t.Errorf("%s: the index is not there, or not valid", name)
		}
		mustVerify(t, db)
		for _, id := range []string{"one", "two"} {
			service := around(t, s.sessions, db)
			if _, part := getActive(t, service, id); part == nil || !part.Partial() || !sameView(t, service, id) {
				t.Errorf("%s: session %s is loaded whole, or its view is another one", name, id)
			}
		}
	}
}

// TestAKilledInstallGoesOn wherever its process was killed, and no turn fails meanwhile.
func TestAKilledInstallGoesOn(t *testing.T) {
	s := newStore(t, &postgreSQL)
	db := s.pool(t)
	talked(t, around(t, s.sessions, db), 12, "one", "two")
	p := startProcesses(t, s, true)[0]
	a, err := newApp(around(t, s.sessions, db), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	createSession(t.Context(), t, s.sessions, "meanwhile")
	var acknowledged []int
	for i := range long(15, 40) {
		p.tell(order{Do: "install"})
		time.Sleep(time.Duration(4*i) * time.Millisecond) // an Install takes about 100 ms
		p.restart()
		if err := a.take(t.Context(), "meanwhile", i); err != nil {
			t.Fatalf("a turn after Install was killed: %v", err)
		}
		acknowledged = append(acknowledged, i)
		if err := adkdb.Install(t.Context(), db); err != nil {
			t.Fatalf("Install after one was killed: %v", err)
		}
		if number(t, db, validIndexes) != 1 {
			t.Error("the index is not there, or not valid")
		}
		mustVerify(t, db)
		if err := a.compacting.Flush(t.Context(), refTo("meanwhile")); err != nil { // a record between two loads makes two views
			t.Error(err)
		}
		service := around(t, s.sessions, db)
		if !sameView(t, service, "one") {
			t.Error("a session is loaded whole")
		}
		sameView(t, service, "meanwhile") // whole or in part: a short session hides nothing
		if err := adkdb.Uninstall(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.compacting.Close(t.Context()); err != nil {
		t.Error(err)
	}
	found := inspect(t.Context(), t, s.sessions, "meanwhile", acknowledged)
	found.mustBeClean(t)
	if found.records == 0 {
		t.Errorf("no record is stored of %d turns", len(acknowledged))
	}
}

// TestRebuildMendsSessionsThatAreLoadedWhole, unless their records still contradict each other.
func TestRebuildMendsSessionsThatAreLoadedWhole(t *testing.T) {
	s, db, service := installed(t)
	talked(t, service, 12, "sound", "mended", "changed")
	createSession(t.Context(), t, service, "broken")
	h := (&compactiontest.History{}).Turns(4, "agent")
	// Two processes that know of no tables cover one event twice.
	h.Compact("r1", "e1", "e2").Compact("r2", "e2", "e3")
	handle := getWhole(t, s.sessions, "broken")
	for _, ev := range h.Events {
		if err := s.sessions.AppendEvent(t.Context(), handle, ev); err != nil {
			t.Fatal(err)
		}
	}
	s.exec(t, "UPDATE longsession_sessions SET state = 'conflicted' WHERE session_id = 'mended'",
		"UPDATE events SET author = author WHERE session_id = 'changed'")
	states := func() string {
		return fmt.Sprint(number(t, db, "SELECT count(*) FROM longsession_sessions WHERE state = 'exact'"), " exact, ",
			number(t, db, "SELECT count(*) FROM longsession_sessions WHERE state = 'pending'"), " pending, ",
			number(t, db, "SELECT count(*) FROM longsession_sessions WHERE state = 'conflicted'"), " conflicted")
	}
	if got, want := states(), "1 exact, 1 pending, 2 conflicted"; got != want {
		t.Fatalf("before Rebuild: %s, want %s", got, want)
	}
	found, err := adkdb.Verify(t.Context(), db)
	if err != nil || len(found) != 2 || !strings.Contains(found[0].Text, "call Install") || !strings.Contains(found[1].Text, "call Rebuild") {
		t.Errorf("Verify finds %v, %v", found, err)
	}
	for range 2 {
		if err := adkdb.Rebuild(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got, want := states(), "3 exact, 0 pending, 1 conflicted"; got != want {
			t.Errorf("after Rebuild: %s, want %s", got, want)
		}
	}
	mustVerify(t, db)
	for _, id := range []string{"sound", "mended", "changed"} {
		if !sameView(t, service, id) {
			t.Errorf("session %s is loaded whole", id)
		}
	}
	if sameView(t, service, "broken") {
		t.Error("a session is loaded in part although its records contradict each other")
	}
}

// TestDeletingBesideAppends ends no transaction by a deadlock and leaves no row behind that a new session of the same ID would
// take for its own. Each session is deleted while it is written to, after one event at least was stored.
func TestDeletingBesideAppends(t *testing.T) {
	_, db, service := installed(t)
	const writers, cycles = 3, 25
	createSession(t.Context(), t, service, "s")
	done := make(chan struct{})
	var wait sync.WaitGroup
	stop := sync.OnceFunc(func() { close(done); wait.Wait() })
	defer stop()
	var appended, refused atomic.Int64
	for w := range writers {
		wait.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				resp, err := service.GetActive(t.Context(), getRequest("s"))
				if err == nil {
					h := &compactiontest.History{}
					h.User("i", "question").Last().ID = fmt.Sprintf("%d-%d", w, n)
					h.Last().Timestamp = time.Now()
					err = service.AppendEvent(t.Context(), resp.Session, h.Last()) // stale, gone, or stored
				}
				if err == nil {
					appended.Add(1)
					continue
				}
				refused.Add(1)
				if strings.Contains(err.Error(), "40P01") {
					t.Errorf("a deadlock: %v", err)
				}
			}
		})
	}
	for range cycles {
		for deadline := time.Now().Add(childTimeout); number(t, db, "SELECT count(*) FROM events") == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("no event was stored; %d appends were refused", refused.Load())
			}
		}
		if err := service.Delete(t.Context(), &session.DeleteRequest{AppName: appName, UserID: userID, SessionID: "s"}); err != nil {
			t.Errorf("delete: %v", err)
		}
		if _, err := service.Get(t.Context(), getRequest("s")); !adk.IsNotFound(err) {
			t.Errorf("a deleted session: %v", err)
		}
		for _, table := range []string{"sessions", "visible", "records", "calls"} {
			if n := number(t, db, "SELECT count(*) FROM longsession_"+table); n != 0 {
				t.Errorf("%d rows are left in longsession_%s", n, table)
			}
		}
		createSession(t.Context(), t, service, "s")
	}
	stop()
	t.Logf("%d appends stored, %d refused", appended.Load(), refused.Load())
	if n := appended.Load(); n < cycles {
		t.Errorf("%d appends were stored beside %d deletions", n, cycles)
	}
	mustVerify(t, db)
	sameView(t, service, "s")
}

// TestPinAGetOfNoEventsGivesAHandle that knows when the session was updated last, and with which events are appended.
func TestPinAGetOfNoEventsGivesAHandle(t *testing.T) {
	for _, engine := range engines(t) {
		t.Run(engine.name, func(t *testing.T) {
			s := newStore(t, engine)
			b := newBeside(t, s.sessions)
			req := getRequest("s")
			req.NumRecentEvents, req.After = 1, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
			get := func() session.Session {
				resp, err := s.sessions.Get(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				return resp.Session
			}
			bare, stale := get(), get()
			if n := bare.Events().Len(); n != 0 {
				t.Errorf("the handle has %d events", n)
			}
			if got, want := bare.LastUpdateTime(), b.read(t, s.sessions).LastUpdateTime(); !got.Equal(want) {
				t.Errorf("the handle is of %v, want %v", got, want)
			}
			ev := b.next()
			if err := s.sessions.AppendEvent(t.Context(), bare, ev); err != nil {
				t.Error(err)
			}
			all := b.read(t, s.sessions).Events()
			if last := all.At(all.Len() - 1); all.Len() != len(b.history.Events) || last.ID != ev.ID {
				t.Errorf("%d events, the last is %s; want %d and %s", all.Len(), last.ID, len(b.history.Events), ev.ID)
			}
			late := b.history.User("inv10", "Once more.").Last()
			if err := s.sessions.AppendEvent(t.Context(), stale, late); err == nil || !strings.Contains(err.Error(), "stale session") {
				t.Errorf("an append with a handle that missed an event: %v", err)
			}
		})
	}
}
