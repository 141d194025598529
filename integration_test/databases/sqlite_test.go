package databases_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"gorm.io/driver/sqlite"
	_ "modernc.org/sqlite"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
)

// sqliteSetup is a way to open SQLite under ADK's database service, with as many connections as
// database/sql opens.
type sqliteSetup struct {
	driver      string // "sqlite3" is mattn's driver, "sqlite" is modernc's
	journal     string
	busyTimeout int // ms
}

func (s sqliteSetup) String() string {
	return fmt.Sprintf("%s/%s/busy_timeout=%d", s.driver, s.journal, s.busyTimeout)
}

// dsn disables waiting for the disk, because a test need not survive a power cut.
func (s sqliteSetup) dsn(file string) string {
	format := "file:%s?_pragma=journal_mode(%s)&_pragma=busy_timeout(%d)&_pragma=synchronous(0)&_pragma=foreign_keys(1)"
	if s.driver == "sqlite3" {
		format = "file:%s?_journal_mode=%s&_busy_timeout=%d&_synchronous=0&_foreign_keys=1"
	}
	return fmt.Sprintf(format, file, s.journal, s.busyTimeout)
}

func sqliteSetups() []sqliteSetup {
	var setups []sqliteSetup
	for _, driver := range []string{"sqlite3", "sqlite"} {
		for _, journal := range []string{"WAL", "DELETE"} {
			for _, busyTimeout := range []int{0, 5000} {
				setups = append(setups, sqliteSetup{driver, journal, busyTimeout})
			}
		}
	}
	return setups
}

// open opens the service over a file and creates its tables.
func (s sqliteSetup) open(t testing.TB, file string) session.Service {
	t.Helper()
	db, err := sql.Open(s.driver, s.dsn(file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return migrated(t, &sqlite.Dialector{Conn: db})
}

// SQLite rejects a concurrent write, immediately or after the busy timeout, and always rejects a
// transaction that read before another one wrote. An app that never runs two turns at once must not
// meet these errors because of compaction.
func TestCompactionCostsNoTurnOnSQLite(t *testing.T) {
	t.Parallel()
	for _, setup := range sqliteSetups() {
		for _, bare := range []bool{true, false} {
			if testkit.Race && bare {
				continue // ADK alone is only for comparing figures
			}
			name := setup.String() + "/compacted"
			if bare {
				name = setup.String() + "/ADK alone"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if setup.driver == "sqlite3" && !hasCgo {
					t.Skip("mattn's driver needs cgo, and this build has none")
				}
				found := rotate(t, setup, bare)
				t.Log(found)
				found.mustBeClean(t)
				if !bare && found.records < found.turns/6 { // on a busy machine a summary is for more turns
					t.Errorf("%d records are stored for %d turns", found.records, found.turns)
				}
				if found.calls != found.records {
					t.Errorf("%d summaries were written, and %d records are stored", found.calls, found.records)
				}
			})
		}
	}
}

// rotate runs 120 turns alternately in 4 sessions, and fewer with the race detector to save time.
func rotate(t *testing.T, setup sqliteSetup, bare bool) tally {
	t.Helper()
	const sessions = 4
	turns := 120
	if testkit.Race {
		turns = 40
	}
	ctx := context.WithoutCancel(t.Context())
	inner := setup.open(t, filepath.Join(t.TempDir(), "sessions.db"))
	a, err := newApp(inner, bare, nil)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := make([][]int, sessions)
	found := tally{turns: turns}
	for i := range sessions {
		createSession(ctx, t, inner, fmt.Sprint(i))
	}
	for turn := range turns {
		i := turn % sessions
		if err := a.take(ctx, fmt.Sprint(i), turn); err != nil {
			t.Logf("turn %d failed: %v", turn, err)
			found.failed++
			continue
		}
		found.lostFacts += missing(a.facts, acknowledged[i])
		acknowledged[i] = append(acknowledged[i], turn)
	}
	if !bare {
		for i := range sessions {
			finish(ctx, t, a, fmt.Sprint(i))
		}
		found.calls = int(a.writer.calls.Load())
	}
	for i := range sessions {
		found.add(inspect(ctx, t, inner, fmt.Sprint(i), acknowledged[i]))
	}
	return found
}

func createSession(ctx context.Context, t testing.TB, service session.Service, id string) {
	t.Helper()
	if _, err := service.Create(ctx, &session.CreateRequest{AppName: appName, UserID: userID, SessionID: id}); err != nil {
		t.Fatal(err)
	}
}

// finish flushes a session and checks that no work is left.
func finish(ctx context.Context, t *testing.T, a *app, sessionID string) {
	t.Helper()
	if err := a.compacting.Flush(ctx, refTo(sessionID)); err != nil {
		t.Fatal(err)
	}
	status, err := a.compacting.Status(ctx, refTo(sessionID))
	if err != nil {
		t.Fatal(err)
	}
	if status.Due || status.Running || status.Failures > 0 {
		t.Errorf("session %s is not done: %+v", sessionID, status)
	}
	if failures := a.seen.failures(); len(failures) > 0 || a.seen.of(compaction.Discarded) > 0 {
		t.Errorf("compactions failed: %q; %d were discarded", failures, a.seen.of(compaction.Discarded))
	}
}
