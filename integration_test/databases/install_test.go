package databases_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// mustVerify checks that the tables say what the events say.
func mustVerify(t *testing.T, db *sql.DB) {
	t.Helper()
	found, err := adkdb.Verify(context.WithoutCancel(t.Context()), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// talked stores sessions with compactions, through a wrapper over the service.
func talked(t *testing.T, inner session.Service, turns int, ids ...string) {
	t.Helper()
	a, err := newApp(inner, false, func(cfg *compaction.Config) { cfg.Synchronous = true })
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		createSession(t.Context(), t, inner, id)
		for turn := range turns {
			if err := a.take(t.Context(), id, turn); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.compacting.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestInstallFillsTheTablesForSessionsThatExist(t *testing.T) {
	s := newStore(t, &postgreSQL)
	db := s.pool(t)
	service := around(t, s.sessions, db)
	talked(t, service, 12, "one", "two")
	if _, part := getActive(t, service, "one"); part != nil {
		t.Error("a session is loaded in part before the tables are there")
	}
	var wait sync.WaitGroup
	for range 2 { // at once, as two processes may
		wait.Go(func() {
			if err := adkdb.Install(t.Context(), db); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := adkdb.Install(t.Context(), db); err != nil {
		t.Errorf("once more: %v", err)
	}
	mustVerify(t, db)
	fresh := around(t, s.sessions, db) // the other one believes for a while that there are no tables
	for _, id := range []string{"one", "two"} {
		if _, part := getActive(t, fresh, id); part == nil || !part.Partial() || !sameView(t, fresh, id) {
			t.Errorf("session %s is loaded whole, or its view is another one", id)
		}
	}
	talked(t, fresh, 8, "three")
	mustVerify(t, db)
}

func TestInstallSaysWhatIsInItsWay(t *testing.T) {
	t.Run("no right to create", func(t *testing.T) {
		s := newStore(t, &postgreSQL)
		role := "reads_" + s.name
		s.exec(t, "CREATE ROLE "+role+" LOGIN", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role)
		limited := s.open(t, role)
		err := adkdb.Install(t.Context(), limited)
		if err == nil || !strings.Contains(err.Error(), "install: ") || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("error %v", err)
		}
		service := around(t, s.sessions, limited)
		talked(t, service, 8, "s")
		if _, part := getActive(t, service, "s"); part != nil {
			t.Error("a session is loaded in part without tables")
		}
	})
	t.Run("no tables of ADK", func(t *testing.T) {
		s := newStore(t, &postgreSQL)
		s.exec(t, "DROP TABLE events", "DROP TABLE sessions")
		if err := adkdb.Install(t.Context(), s.pool(t)); !errors.Is(err, adkdb.ErrNoEvents) || !strings.Contains(err.Error(), "AutoMigrate") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("another server", func(t *testing.T) {
		s := newStore(t, &mariaDB)
		if err := adkdb.Install(t.Context(), s.pool(t)); err == nil || !strings.Contains(err.Error(), "these tables need PostgreSQL") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("another version", func(t *testing.T) {
		s, db, service := installed(t)
		talked(t, service, 8, "s")
		s.exec(t, "UPDATE longsession_schema SET version = 9")
		if err := adkdb.Install(t.Context(), db); err == nil || !strings.Contains(err.Error(), "version 9") || !strings.Contains(err.Error(), fmt.Sprint("knows ", adk.Major)) {
			t.Errorf("error %v", err)
		}
		if _, err := adkdb.Verify(t.Context(), db); err == nil || !strings.Contains(err.Error(), "found 9") {
			t.Errorf("verify: %v", err)
		}
		if _, part := getActive(t, service, "s"); part != nil {
			t.Error("tables of another version are read")
		}
		if err := adkdb.Uninstall(t.Context(), db); err != nil {
			t.Error(err)
		}
		if err := adkdb.Install(t.Context(), db); err != nil {
			t.Error(err)
		}
		mustVerify(t, db)
	})
}

// TestVerifyNamesWhatIsWrong, and changes nothing.
func TestVerifyNamesWhatIsWrong(t *testing.T) {
	s, db, service := installed(t)
	talked(t, service, 12, "one", "two")
	mustVerify(t, db)
	for name, c := range map[string]struct{ harm, want string }{
		"a row is missing":         {"DELETE FROM longsession_visible WHERE event_id = (SELECT max(event_id) FROM longsession_visible WHERE record_id IS NULL)", "rows missing: 1"},
		"a row is too many":        {"INSERT INTO longsession_visible (session, event_id, branch, author, events) SELECT key, 'none', '', 'user', 1 FROM longsession_sessions WHERE session_id = 'one'", "rows too many: 1"},
		"a record is missing":      {"DELETE FROM longsession_records WHERE record_id = (SELECT min(record_id) FROM longsession_records)", `rows missing: 1, such as ["record`},
		"an event without trigger": {"ALTER TABLE events DISABLE TRIGGER longsession_append; INSERT INTO events (id, app_name, user_id, session_id, author, actions, timestamp, content) SELECT 'silent', app_name, user_id, id, 'user', '{}', update_time, '{\"role\": \"user\", \"parts\": [{\"text\": \"x\"}]}' FROM sessions WHERE id = 'one'; ALTER TABLE events ENABLE TRIGGER longsession_append", "rows missing: 1"},
		"an event was changed":     {"UPDATE events SET author = 'eve' WHERE session_id = 'one' AND author = 'user'", "call Install"},
	} {
		s.exec(t, strings.Split(c.harm, "; ")...)
		for range 2 {
			found, err := adkdb.Verify(t.Context(), db)
			if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, c.want) || !strings.Contains(found[0].String(), found[0].SessionID) {
				t.Errorf("%s: %v, %v; want %q", name, found, err, c.want)
			}
		}
		for _, mend := range []func(context.Context, *sql.DB) error{adkdb.Uninstall, adkdb.Install} {
			if err := mend(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		mustVerify(t, db)
	}
}

// TestUninstallWhileAppsRun: no turn fails, nothing is lost, and the tables are right whenever they are there. Summaries are stored
// all the while.
func TestUninstallWhileAppsRun(t *testing.T) {
	s, db, _ := installed(t)
	const sessions, turns = 3, 20
	var wait sync.WaitGroup
	ended := make(chan struct{})
	apps := make([]*app, sessions)
	for n := range apps {
		id := fmt.Sprint("s", n)
		a, err := newApp(around(t, s.sessions, db), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		createSession(t.Context(), t, s.sessions, id)
		apps[n] = a
		wait.Go(func() {
			for turn := range turns {
				if err := a.take(t.Context(), id, turn); err != nil {
					t.Errorf("session %s, turn %d: %v", id, turn, err)
					return
				}
			}
			if err := a.compacting.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	go func() { wait.Wait(); close(ended) }()
	cycles := 0
	for running := true; running; cycles++ {
		for _, change := range []func(context.Context, *sql.DB) error{adkdb.Uninstall, adkdb.Install} {
			if err := change(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-ended:
			running = false
		default:
		}
	}
	mustVerify(t, db)
	var acknowledged []int
	for turn := range turns {
		acknowledged = append(acknowledged, turn)
	}
	for n, a := range apps {
		found := inspect(t.Context(), t, s.sessions, fmt.Sprint("s", n), acknowledged)
		found.mustBeClean(t)
		if failures := a.seen.failures(); found.records == 0 || len(failures) > 0 {
			t.Errorf("session s%d after %d cycles: %d records; failures: %q", n, cycles, found.records, failures)
		}
	}
}

// TestTheTablesDecideWhetherARecordFits, and not the records of the session, which may be many. The one that is stored here
// behind the back of the tables would be in its way.
func TestTheTablesDecideWhetherARecordFits(t *testing.T) {
	s, db, service := installed(t)
	createSession(t.Context(), t, service, "s")
	h := (&compactiontest.History{}).Turns(4, "bot")
	sess := getWhole(t, service, "s")
	for _, ev := range h.Events {
		if err := service.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
	}
	s.exec(t, "ALTER TABLE events DISABLE TRIGGER longsession_append")
	if err := service.AppendRecord(t.Context(), sess, h.Record("unseen", "e1", "e2")); err != nil {
		t.Fatal(err)
	}
	s.exec(t, "ALTER TABLE events ENABLE TRIGGER longsession_append")
	if err := service.AppendRecord(t.Context(), sess, h.Record("seen", "e1", "e2")); err != nil {
		t.Errorf("the tables were not asked: %v", err)
	}
	if err := service.AppendRecord(t.Context(), sess, h.Record("late", "e2", "e3")); !errors.Is(err, adkdb.ErrRecordSuperseded) {
		t.Errorf("a record of a covered event: %v", err)
	}
	if err := adkdb.Uninstall(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := service.AppendRecord(t.Context(), sess, h.Record("without", "e5", "e6")); err != nil {
		t.Errorf("without tables: %v", err)
	}
}

// TestUninstallBetweenTheReadsOfARecord: the record is stored as if the tables had never been there.
func TestUninstallBetweenTheReadsOfARecord(t *testing.T) {
	s, _, service := installed(t)
	b := newBeside(t, service)
	gate, err := s.pool(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Rollback()
	if _, err := gate.ExecContext(t.Context(), "DROP TABLE longsession_schema"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- service.AppendRecord(t.Context(), b.live, b.record) }() // sees the table, and waits for it
	s.awaitWaiting(t, 1)
	if err := gate.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("AppendRecord: %v", err)
	}
	if found, err := service.Records(t.Context(), getRequest("s")); err != nil || len(found) != 1 {
		t.Errorf("%d records, %v", len(found), err)
	}
}
