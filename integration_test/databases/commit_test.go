package databases_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// cutWaiting waits until a connection to the store's database waits for something, and cuts it.
func (s *store) cutWaiting(t *testing.T, what string) {
	t.Helper()
	cut := fmt.Sprintf("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '%s' AND %s", s.name, what)
	for deadline := time.Now().Add(time.Minute); number(t, s.admin, cut) == 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no connection waits for what is to be cut")
		}
	}
}

// recordsOf are the stored records of session "s".
func recordsOf(t *testing.T, service *adkdb.Service) []*session.Event {
	t.Helper()
	found, err := service.Records(t.Context(), getRequest("s"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestAConnectionThatIsCutBeforeTheCommit stores nothing, and the call can be repeated.
func TestAConnectionThatIsCutBeforeTheCommit(t *testing.T) {
	s, db, service := installed(t)
	b := newBeside(t, service)
	// The commit waits for a lock that somebody else has.
	s.exec(t, "CREATE FUNCTION wait_to_commit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END'",
		"CREATE CONSTRAINT TRIGGER wait_to_commit AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_to_commit()")
	gate := s.begin(t, "SELECT pg_advisory_xact_lock(1)")
	done := make(chan error, 1)
	go func() { done <- service.AppendRecord(t.Context(), b.live, b.record) }()
	s.cutWaiting(t, "wait_event_type = 'Lock' AND query ILIKE 'commit%'")
	if err := <-done; err == nil || !isOutage(err.Error()) {
		t.Errorf("AppendRecord: %v", err)
	}
	if err := gate.Rollback(); err != nil {
		t.Fatal(err)
	}
	if found := recordsOf(t, service); len(found) != 0 {
		t.Errorf("%d records are stored by a transaction that never committed", len(found))
	}
	for range 2 {
		if err := service.AppendRecord(t.Context(), b.live, b.record); err != nil {
			t.Errorf("once more: %v", err)
		}
	}
	if found := recordsOf(t, service); len(found) != 1 || found[0].ID != b.record.ID {
		t.Errorf("%v are stored", compactiontest.IDs(found))
	}
	mustVerify(t, db)
}

// afterCommit returns a store whose server answers no commit of a connection with the setting " synchronous_commit=on" before
// heard is called: it has committed, and waits for a standby that is not there.
func afterCommit(t *testing.T) (s *store, heard func()) {
	t.Helper()
	s = newStoreOn(t, ownServer(t, &postgreSQL))
	change := func(statements ...string) {
		for _, statement := range append(statements, "SELECT pg_reload_conf()") {
			if _, err := s.admin.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	change("ALTER SYSTEM SET synchronous_commit = local")
	if err := adkdb.Install(t.Context(), s.pool(t)); err != nil {
		t.Fatal(err)
	}
	change("ALTER SYSTEM SET synchronous_standby_names = nobody")
	return s, func() { change("ALTER SYSTEM RESET synchronous_standby_names") }
}

const waitsForStandby = "wait_event = 'SyncRep'"

// TestAConnectionThatIsCutAfterTheCommit: the record is stored, the caller got an error, and the repeated call finds the record.
func TestAConnectionThatIsCutAfterTheCommit(t *testing.T) {
	s, heard := afterCommit(t)
	service := around(t, s.sessions, s.with(t, " synchronous_commit=on"))
	b := newBeside(t, service)
	done := make(chan error, 1)
	go func() { done <- service.AppendRecord(t.Context(), b.live, b.record) }()
	s.cutWaiting(t, waitsForStandby)
	if err := <-done; err == nil || !isOutage(err.Error()) {
		t.Errorf("AppendRecord: %v", err)
	}
	heard()
	found := recordsOf(t, service)
	if len(found) != 1 {
		t.Fatalf("%d records are stored by a transaction that has committed", len(found))
	}
	if err := service.AppendRecord(t.Context(), b.live, b.record); err != nil || b.record.ID != found[0].ID {
		t.Errorf("once more: %v, event %q; want %q", err, b.record.ID, found[0].ID)
	}
	if again := recordsOf(t, service); len(again) != 1 {
		t.Errorf("%d records are stored", len(again))
	}
	mustVerify(t, s.pool(t))
}

// TestAJobThatHearsNothingOfItsCommit stores its summary once, and the session goes on.
func TestAJobThatHearsNothingOfItsCommit(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	s, heard := afterCommit(t)
	always := func(context.Context, compaction.SessionRef, time.Duration) (func(), bool, error) {
		return nil, true, nil
	}
	a, err := newApp(around(t, s.sessions, s.with(t, " synchronous_commit=on")), false, func(cfg *compaction.Config) { cfg.Lease = always })
	if err != nil {
		t.Fatal(err)
	}
	createSession(ctx, t, s.sessions, "s")
	var acknowledged []int
	take := func() {
		t.Helper()
		turn := len(acknowledged)
		if err := a.take(ctx, "s", turn); err != nil {
			t.Fatalf("turn %d: %v", turn, err)
		}
		acknowledged = append(acknowledged, turn)
	}
	for len(acknowledged) < 6 {
		take()
	}
	s.cutWaiting(t, waitsForStandby)
	heard()
	for len(acknowledged) < 30 {
		take()
	}
	if err := a.compacting.Flush(ctx, refTo("s")); err != nil {
		t.Error(err)
	}
	if err := a.compacting.Close(ctx); err != nil {
		t.Error(err)
	}
	found := inspect(ctx, t, s.sessions, "s", acknowledged)
	found.calls = int(a.writer.calls.Load())
	t.Log(found, a.seen.failures())
	found.mustBeClean(t)
	if found.records == 0 || found.calls > found.records+2 { // how many depends on how fast the machine is
		t.Errorf("%d records are stored, for %d calls to the summarizer", found.records, found.calls)
	}
	mustVerify(t, s.pool(t))
}
