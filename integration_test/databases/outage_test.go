package databases_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// TestAServerThatEndsInTheMiddleOfATurn costs that turn and those before it is back, as with ADK alone, and nothing that was
// acknowledged. The app is the same one all the time.
func TestAServerThatEndsInTheMiddleOfATurn(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			server := ownServer(t, e)
			for _, bare := range []bool{true, false} {
				takeTurnsThroughAnOutage(t, newStoreOn(t, server), bare)
			}
		})
	}
}

func takeTurnsThroughAnOutage(t *testing.T, s *store, bare bool) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	a := appOver(t, s, s.engine.adminUser, "", bare)
	const id = "s"
	createSession(ctx, t, s.sessions, id)
	var acknowledged []int
	for turn := range 30 {
		if turn == 10 {
			a.asked = func() {
				a.asked = nil
				if err := s.end(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if turn == 12 {
			if err := s.restart(); err != nil {
				t.Fatal(err)
			}
		}
		err := a.take(ctx, id, turn)
		switch {
		case err == nil:
			acknowledged = append(acknowledged, turn)
		case !isOutage(err.Error()) || turn < 10 || turn > 12: // the driver may notice only then that a connection is gone
			t.Errorf("bare %t, turn %d: %v", bare, turn, err)
		}
	}
	found := tally{}
	if !bare {
		// Compactions failed meanwhile, so those that come by themselves wait for some seconds. One by hand does not.
		if _, err := a.compacting.Compact(ctx, refTo(id), compaction.CompactOptions{}); err != nil {
			t.Errorf("Compact once the server is back: %v", err)
		}
		status, err := a.compacting.Status(ctx, refTo(id))
		if err != nil || status.Failures > 0 || !status.RetryAt.IsZero() {
			t.Errorf("status after a compaction by hand: %d failures, the next attempt at %v; %v", status.Failures, status.RetryAt, err)
		}
	}
	found.add(inspect(ctx, t, s.sessions, id, acknowledged))
	found.mustBeClean(t)
	if len(acknowledged) < 27 || !bare && found.records == 0 {
		t.Errorf("bare %t: %d turns were acknowledged: %s; failures: %q", bare, len(acknowledged), found, a.seen.failures())
	}
}

// TestAServerThatIsNotThereYet: a service can be made before its server answers. Until then its errors are those of the
// connection, and then it works.
func TestAServerThatIsNotThereYet(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			s := newStoreOn(t, ownServer(t, e))
			b := newBeside(t, s.sessions)
			if err := s.end(); err != nil {
				t.Fatal(err)
			}
			db := s.pool(t)
			service := around(t, s.sessions, db)
			calls := map[string]func(ctx context.Context) error{
				"AppendRecord": func(ctx context.Context) error { return service.AppendRecord(ctx, b.live, b.record) },
				"Lease":        func(ctx context.Context) error { _, _, err := service.Lease(ctx, b.live, time.Minute); return err },
				"Records":      func(ctx context.Context) error { _, err := service.Records(ctx, getRequest("s")); return err },
				"GetActive":    func(ctx context.Context) error { _, err := service.GetActive(ctx, getRequest("s")); return err },
			}
			if e == &postgreSQL {
				calls["Install"] = func(ctx context.Context) error { return adkdb.Install(ctx, db) }
				calls["Verify"] = func(ctx context.Context) error { _, err := adkdb.Verify(ctx, db); return err }
				calls["Uninstall"] = func(ctx context.Context) error { return adkdb.Uninstall(ctx, db) }
			}
			for name, call := range calls {
				if err := call(t.Context()); err == nil || !isOutage(err.Error()) || adk.IsNotFound(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := s.restart(); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"AppendRecord", "Lease", "Records", "GetActive", "Install", "Verify", "Uninstall"} {
				if call := calls[name]; call != nil {
					if err := call(t.Context()); err != nil {
						t.Errorf("%s once the server is there: %v", name, err)
					}
				}
			}
		})
	}
}

// TestAWrongPassword is the server's error. Where only compaction has it, turns go on.
func TestAWrongPassword(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			s := newStoreOn(t, ownServer(t, e))
			lockAccount(t, s)
			wrong := wrongPassword(t, s)
			// gorm closes the pool when it cannot connect, so ADK's service gets one of its own.
			if _, err := overDatabase(e.dialector(wrongPassword(t, s))); err == nil || !strings.Contains(err.Error(), "locked") {
				t.Errorf("ADK's service over a pool with a wrong password: %v", err)
			}
			service, b := around(t, s.sessions, wrong), newBeside(t, s.sessions)
			err := service.AppendRecord(t.Context(), b.live, b.record)
			if err == nil || adk.IsNotFound(err) || errorCode(err) != map[*engine]string{&postgreSQL: "28P01", &mariaDB: "1045"}[e] {
				t.Errorf("AppendRecord: %v", err)
			}
			if e == &postgreSQL {
				if err := adkdb.Install(t.Context(), wrong); sqlState(err) != "28P01" || !strings.Contains(err.Error(), "install: ") {
					t.Errorf("Install: %v", err)
				}
			}
			a, err := newApp(service, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			createSession(t.Context(), t, s.sessions, "turns")
			var acknowledged []int
			for turn := range 12 {
				if err := a.take(t.Context(), "turns", turn); err != nil {
					t.Errorf("turn %d: %v", turn, err)
				}
				acknowledged = append(acknowledged, turn)
			}
			if err := a.compacting.Flush(t.Context(), refTo("turns")); err != nil {
				t.Error(err)
			}
			found := inspect(t.Context(), t, s.sessions, "turns", acknowledged)
			found.mustBeClean(t)
			if failures := a.seen.failures(); found.records != 0 || len(failures) == 0 || !strings.Contains(failures[0], "locked") {
				t.Errorf("%d records are stored; failures: %q", found.records, failures)
			}
		})
	}
}

// lockAccount creates an account "locked" that has a password.
func lockAccount(t *testing.T, s *store) {
	t.Helper()
	statements := []string{"CREATE USER locked@localhost IDENTIFIED BY 'right'", "GRANT ALL ON *.* TO locked@localhost"}
	if s.engine == &postgreSQL {
		file := filepath.Join(s.dir, "data", "pg_hba.conf")
		rules, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, fmt.Appendf(nil, "local all locked scram-sha-256\n%s", rules), 0o600); err != nil {
			t.Fatal(err)
		}
		statements = []string{"CREATE ROLE locked SUPERUSER LOGIN PASSWORD 'right'", "SELECT pg_reload_conf()"}
	}
	s.exec(t, statements...)
}

// wrongPassword opens a pool of that account with another password.
func wrongPassword(t *testing.T, s *store) *sql.DB {
	t.Helper()
	dsn := s.engine.dsn(s.dir, s.name, "locked:wrong")
	if s.engine == &postgreSQL {
		dsn = s.engine.dsn(s.dir, s.name, "locked") + " password=wrong"
	}
	return openPool(t, s.engine, dsn)
}
