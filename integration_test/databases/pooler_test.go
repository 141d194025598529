package databases_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// poolerConfig hands out few connections, each for one transaction.
const poolerConfig = `[databases]
* = host=%[1]s user=%[2]s
[pgbouncer]
unix_socket_dir = %[3]s
listen_addr =
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_check_query = select 1
`

// throughPooler starts a PgBouncer of the test's own in front of a store's server, and returns a data source name that goes
// through it. Debian's package is pgbouncer.
func throughPooler(t *testing.T, s *store) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
		_, err = os.Stat(program)
	}
	if err != nil && onCI() {
		t.Fatalf("no test may be skipped with CI=true: %v", err)
	}
	if err != nil {
		t.Skipf("PgBouncer is not installed (Debian: apt-get install pgbouncer): %v", err)
	}
	dir, err := os.MkdirTemp("", "pool") // as for servers, t.TempDir is unsuitable
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(config, fmt.Appendf(nil, poolerConfig, s.dir, s.engine.adminUser, dir), 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	run := exec.Command(program, "-q", config)
	run.Stdout, run.Stderr = log, log
	if err := asUser(run, dir, s.engine.users); err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
	})
	dsn := fmt.Sprintf("host=%s port=6432 user=%s dbname=%s default_query_exec_mode=exec", dir, s.engine.adminUser, s.name)
	db := openPool(t, s.engine, dsn)
	for deadline := time.Now().Add(startTimeout); db.PingContext(t.Context()) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("PgBouncer does not answer\n%s", text)
		}
	}
	return dsn
}

// pooled returns a service of which everything, ADK's too, goes through a pooler.
func pooled(t *testing.T, s *store, dsn string) *adkdb.Service {
	t.Helper()
	inner, err := overDatabase(s.engine.dialector(openPool(t, s.engine, dsn)))
	if err != nil {
		t.Fatal(err)
	}
	return around(t, inner, openPool(t, s.engine, dsn))
}

// TestContractsThroughAPooler that hands out connections by transaction.
func TestContractsThroughAPooler(t *testing.T) {
	compactiontest.RunOptional(t, func(t *testing.T) session.Service {
		s := newStore(t, &postgreSQL)
		return pooled(t, s, throughPooler(t, s))
	})
}

// TestProcessesThatShareAPooler have fewer connections than they are, and leave a session to each other after every turn.
func TestProcessesThatShareAPooler(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	s := newStore(t, &postgreSQL)
	if err := adkdb.Install(ctx, s.pool(t)); err != nil {
		t.Fatal(err)
	}
	dsn := throughPooler(t, s)
	const sessions, turns, processes = 6, 24, 3
	var wait sync.WaitGroup
	all := make([][]*app, sessions) // by session and process, because turns of one app must not overlap
	var acknowledged []int
	for turn := range turns {
		acknowledged = append(acknowledged, turn)
	}
	for n := range all {
		id := fmt.Sprint("s", n)
		createSession(ctx, t, s.sessions, id)
		for range processes {
			a, err := newApp(pooled(t, s, dsn), false, nil)
			if err != nil {
				t.Fatal(err)
			}
			all[n] = append(all[n], a)
		}
		wait.Go(func() {
			for turn := range turns {
				a := all[n][turn%processes]
				if err := a.take(ctx, id, turn); err != nil {
					t.Errorf("session %s, turn %d: %v", id, turn, err)
				} else if lost := missing(a.facts, acknowledged[:turn]); lost > 0 {
					t.Errorf("session %s, turn %d: %d facts are missing", id, turn, lost)
				}
			}
			for _, a := range all[n] {
				if err := a.compacting.Close(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for n, apps := range all {
		id := fmt.Sprint("s", n)
		found := inspect(ctx, t, s.sessions, id, acknowledged)
		found.mustBeClean(t)
		for _, a := range apps {
			if failures := a.seen.failures(); len(failures) > 0 {
				t.Errorf("session %s: %q", id, failures)
			}
		}
		service := pooled(t, s, dsn)
		if !sameView(t, service, id) {
			t.Errorf("session %s is loaded whole", id)
		}
		if found.records == 0 { // how many depends on how fast the machine is
			t.Errorf("session %s has no record", id)
		}
	}
	mustVerify(t, openPool(t, s.engine, dsn))
}

// TestOneConnectionIsEnough for ADK's service and ours together: neither holds one while it waits for the other.
func TestOneConnectionIsEnough(t *testing.T) {
	s := newStore(t, &postgreSQL)
	db := s.pool(t)
	db.SetMaxOpenConns(1)
	if err := adkdb.Install(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	inner, err := overDatabase(s.engine.dialector(db))
	if err != nil {
		t.Fatal(err)
	}
	service := around(t, inner, db)
	talked(t, service, 12, "s")
	if !sameView(t, service, "s") {
		t.Error("the session is loaded whole")
	}
	mustVerify(t, db)
	if err := adkdb.Uninstall(t.Context(), db); err != nil {
		t.Error(err)
	}
}

// TestTheCommandThroughAPooler exports, imports and audits.
func TestTheCommandThroughAPooler(t *testing.T) {
	s := newStore(t, &postgreSQL)
	dsn := throughPooler(t, s)
	path := fileWithTurns(t, 12, "one", "two")
	back := filepath.Join(t.TempDir(), "back.db")
	for _, args := range [][]string{
		{"export", path, "--dsn", dsn},
		{"import", back, "--dsn", dsn},
		{"audit", "verify", "--dsn", dsn},
		{"audit", "verify", back},
	} {
		code, out, errs := ran(t, args...)
		if code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", strings.Join(args[:2], " "), code, out, errs)
		}
	}
}
