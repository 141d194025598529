package databases_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
	"github.com/adk-go-ext/longsession/record"
)

// with opens a store's database with other settings.
func (s *store) with(t *testing.T, settings string) *sql.DB {
	t.Helper()
	return openPool(t, s.engine, s.dsn()+settings)
}

// over returns a service over ADK's of a store and a pool that is opened with other settings.
func (s *store) over(t *testing.T, settings string) *adkdb.Service {
	t.Helper()
	return around(t, s.sessions, s.with(t, settings))
}

func (s *store) exec(t *testing.T, statements ...string) {
	t.Helper()
	db := s.pool(t)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// sqlState is the code of an error of PostgreSQL, wherever it is wrapped.
func sqlState(err error) string {
	var with interface{ SQLState() string }
	if !errors.As(err, &with) {
		return ""
	}
	return with.SQLState()
}

// TestContractsUnderOtherSettings: a pool that hands out connections by transaction needs another mode of pgx, and a database
// may demand stricter transactions.
func TestContractsUnderOtherSettings(t *testing.T) {
	for name, settings := range map[string]string{
		"without prepared statements": " default_query_exec_mode=exec",
		"simple protocol":             " default_query_exec_mode=simple_protocol",
		"serializable":                " default_transaction_isolation=serializable",
		"repeatable read":             " default_transaction_isolation='repeatable read'",
	} {
		t.Run(name, func(t *testing.T) {
			compactiontest.RunOptional(t, func(t *testing.T) session.Service { return newStore(t, &postgreSQL).over(t, settings) })
		})
		t.Run(name+" with tables", func(t *testing.T) {
			s := newStore(t, &postgreSQL)
			db := s.with(t, settings)
			if err := adkdb.Install(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			service := around(t, s.sessions, db)
			talked(t, service, 12, "s")
			if _, part := getActive(t, service, "s"); part == nil || !part.Partial() || !sameView(t, service, "s") {
				t.Error("the session is loaded whole, or its view is another one")
			}
			mustVerify(t, db)
			for _, change := range []func(context.Context, *sql.DB) error{adkdb.Rebuild, adkdb.Uninstall} {
				if err := change(t.Context(), db); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestADatabaseThatIsNotADKsIsSaid: every record would else be taken for one of a deleted session, and dropped.
func TestADatabaseThatIsNotADKsIsSaid(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		other := newStore(t, s.engine)
		service, err := adkdb.New(s.sessions, other.pool(t))
		if err != nil {
			t.Fatal(err)
		}
		b := newBeside(t, service)
		err = service.AppendRecord(t.Context(), b.live, b.record)
		if err == nil || adk.IsNotFound(err) || !strings.Contains(err.Error(), "open the same database") {
			t.Errorf("AppendRecord: %v", err)
		}
	})
}

// TestWhatTheServerRefusesIsItsError, and stores nothing.
func TestWhatTheServerRefusesIsItsError(t *testing.T) {
	s := newStore(t, &postgreSQL)
	b := newBeside(t, s.shared(t))
	readOnly := s.over(t, " default_transaction_read_only=on")
	gone := s.shared(t)
	withNUL := histories.Amend(b.record, func(m *record.Metadata) { m.Focus = "a\x00b" })
	if err := readOnly.AppendRecord(t.Context(), b.live, b.record); sqlState(err) != "25006" {
		t.Errorf("a server that is read-only: %v", err)
	}
	if _, ok, err := readOnly.Lease(t.Context(), b.live, time.Minute); ok || sqlState(err) != "25006" {
		t.Errorf("a lease on a server that is read-only: %t, %v", ok, err)
	}
	if err := s.shared(t).AppendRecord(t.Context(), b.live, withNUL); sqlState(err) != "22P05" {
		t.Errorf("a record with NUL: %v", err)
	}
	gate, err := s.pool(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Rollback()
	if _, err := gate.Exec("LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	if err := s.over(t, " statement_timeout=50").AppendRecord(t.Context(), b.live, b.record); sqlState(err) != "57014" {
		t.Errorf("a statement that takes too long: %v", err)
	}
	if err := gate.Rollback(); err != nil {
		t.Fatal(err)
	}
	stranger := around(t, s.sessions, s.open(t, "nobody_of_that_name"))
	if err := stranger.AppendRecord(t.Context(), b.live, b.record); err == nil || adk.IsNotFound(err) || !strings.Contains(err.Error(), "nobody_of_that_name") {
		t.Errorf("an account that does not exist: %v", err)
	}
	if found, err := gone.Records(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "s"}); err != nil || len(found) != 0 {
		t.Errorf("%d records were stored, %v", len(found), err)
	}
	if _, err := gone.Records(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "nowhere"}); !adk.IsNotFound(err) {
		t.Errorf("records of no session: %v", err)
	}
}

// TestARoleThatMayCreateNoTableCompactsWithoutLeases, and with them once another role has created the table.
func TestARoleThatMayCreateNoTableCompactsWithoutLeases(t *testing.T) {
	s := newStore(t, &postgreSQL)
	role := "only_" + s.name
	s.exec(t, "CREATE ROLE "+role+" LOGIN", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role)
	limited := around(t, s.sessions, s.open(t, role))
	createSession(t.Context(), t, limited, "s")
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = &compactiontest.Oracle{}
	sessions, err := compaction.NewCompactionService(limited, cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := &beside{history: &compactiontest.History{}}
	for i := range 2 {
		b.live = b.read(t, sessions)
		h := &compactiontest.History{}
		for n := range 8 {
			h.Turn(fmt.Sprintf("inv%d-%d", i, n), "agent", "Remember "+compactiontest.Fact(8*i+n)+", which is long enough to be worth a summary.", "It is noted with all the usual care.")
		}
		for n, ev := range h.Events {
			ev.ID, ev.Timestamp = fmt.Sprintf("e%d-%d", i, n), time.Now()
			if err := sessions.AppendEvent(t.Context(), b.live, ev); err != nil {
				t.Fatal(err)
			}
		}
		if err := sessions.Flush(t.Context(), refTo("s")); err != nil {
			t.Fatal(err)
		}
		found, err := limited.Records(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "s"})
		if err != nil || len(found) <= i {
			t.Fatalf("after %d rounds: %d records, %v", i+1, len(found), err)
		}
		_, ok, err := limited.Lease(t.Context(), b.live, time.Minute)
		if i == 0 {
			if ok || err == nil || !strings.Contains(err.Error(), "longsession_leases") {
				t.Errorf("Lease: %t, %v", ok, err)
			}
			if _, ok, err := s.shared(t).Lease(t.Context(), elsewhere{b.live}, time.Minute); !ok || err != nil {
				t.Fatalf("a role that may create tables: %t, %v", ok, err)
			}
			s.exec(t, "GRANT SELECT, INSERT, UPDATE, DELETE ON longsession_leases TO "+role)
			continue
		}
		if !ok || err != nil {
			t.Errorf("Lease once the table is there: %t, %v", ok, err)
		}
	}
}

// elsewhere is another session.
type elsewhere struct{ session.Session }

func (elsewhere) ID() string { return "elsewhere" }

// TestADroppedTableOfLeasesIsCreatedAgain, as another process may have removed it.
func TestADroppedTableOfLeasesIsCreatedAgain(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		service := s.shared(t)
		b := newBeside(t, service)
		for range 2 {
			if _, ok, err := service.Lease(t.Context(), b.live, time.Hour); !ok || err != nil {
				t.Fatalf("Lease: %t, %v", ok, err)
			}
			s.exec(t, "DROP TABLE longsession_leases")
		}
	})
}

// TestProcessesThatCreateTheTableOfLeasesAtOnce all get an answer, and one of them the lease.
func TestProcessesThatCreateTheTableOfLeasesAtOnce(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		b := newBeside(t, s.sessions)
		const processes = 8
		type answer struct {
			ok  bool
			err error
		}
		answers := make(chan answer, processes)
		for range processes {
			service := s.shared(t)
			go func() {
				_, ok, err := service.Lease(t.Context(), b.live, time.Hour)
				answers <- answer{ok, err}
			}()
		}
		had := 0
		for range processes {
			a := <-answers
			if a.err != nil {
				t.Error(a.err)
			}
			if a.ok {
				had++
			}
		}
		if had != 1 {
			t.Errorf("%d of %d processes have the lease", had, processes)
		}
	})
}
