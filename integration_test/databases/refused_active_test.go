package databases_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// TestAReplicaLoadsSessionsInPart: what only reads needs no right to write.
func TestAReplicaLoadsSessionsInPart(t *testing.T) {
	s, _, service := installed(t)
	talked(t, service, 12, "s")
	replica := s.over(t, " default_transaction_read_only=on")
	if _, part := getActive(t, replica, "s"); part == nil || !part.Partial() || !sameView(t, replica, "s") {
		t.Error("the session is loaded whole, or its view is another one")
	}
}

// TestALoadThatTakesTooLongIsOneOfTheWholeSession, and a lease that takes too long is the server's error.
func TestALoadThatTakesTooLongIsOneOfTheWholeSession(t *testing.T) {
	s, _, service := installed(t)
	talked(t, service, 12, "s")
	hurried := s.over(t, " statement_timeout=100")
	gate := s.begin(t, "LOCK TABLE longsession_visible, longsession_leases IN ACCESS EXCLUSIVE MODE")
	sess, part := getActive(t, hurried, "s")
	if part != nil || sess.Events().Len() != getWhole(t, s.sessions, "s").Events().Len() {
		t.Errorf("%d events are loaded, in part: %t", sess.Events().Len(), part != nil)
	}
	if _, ok, err := hurried.Lease(t.Context(), sess, time.Minute); ok || sqlState(err) != "57014" {
		t.Errorf("Lease: %t, %v", ok, err)
	}
	if err := gate.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, part := getActive(t, hurried, "s"); part == nil || !sameView(t, hurried, "s") {
		t.Error("the session is loaded whole once the tables are free")
	}
}

// TestTwoVersionsOfTheLibraryShareADatabase. The tables are those of a later one, and so are some records. This one
// loads whole sessions, shows what such a record covers, and goes on to compact; the tables miss nothing of it. A session that has
// such a record is loaded whole even with its own tables, because they do not know what a later version means by it.
func TestTwoVersionsOfTheLibraryShareADatabase(t *testing.T) {
	s, db, service := installed(t)
	const turns = 12
	talked(t, service, turns, "before")
	s.exec(t, "UPDATE longsession_schema SET version = 9")
	service = around(t, s.sessions, db)
	talked(t, service, turns, "beside")
	sess := getWhole(t, service, "beside")
	stored := slices.Collect(sess.Events().All())
	later := (&compactiontest.History{Events: stored}).Record("later", stored[len(stored)-1].ID)
	amended, ok := later.CustomMetadata[record.Key].(map[string]any)
	if !ok {
		t.Fatalf("a record is a %T", later.CustomMetadata[record.Key])
	}
	amended["version"] = record.Version + 1
	if err := s.sessions.AppendEvent(t.Context(), sess, later); err != nil {
		t.Fatal(err)
	}
	records, err := service.Records(t.Context(), getRequest("beside"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(service, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := make([]int, 0, 2*turns)
	for turn := range 2 * turns {
		if turn >= turns {
			if err := a.take(t.Context(), "beside", turn); err != nil {
				t.Fatal(err)
			}
			if n := missing(a.facts, acknowledged); n > 0 {
				t.Errorf("turn %d: %d facts are missing", turn, n)
			}
		}
		acknowledged = append(acknowledged, turn)
	}
	if err := a.compacting.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"before", "beside"} {
		if _, part := getActive(t, service, id); part != nil {
			t.Errorf("session %s: tables of another version are read", id)
		}
	}
	found := inspect(t.Context(), t, s.sessions, "beside", acknowledged)
	found.mustBeClean(t)
	if before := len(records); found.records <= before {
		t.Errorf("%d records are stored, after %d before", found.records, before)
	}
	s.exec(t, fmt.Sprint("UPDATE longsession_schema SET version = ", adk.Major))
	mustVerify(t, db)
	service = around(t, s.sessions, db)
	for id, want := range map[string]bool{"before": true, "beside": false} {
		if partial := sameView(t, service, id); partial != want {
			t.Errorf("session %s is loaded in part: %t, want %t", id, partial, want)
		}
	}
}
