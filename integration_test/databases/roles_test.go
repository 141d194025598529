package databases_test

import (
	"errors"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// TestARoleThatWasGrantedItsRightsAfterInstall stores records that the tables know, loads sessions whole, and has everything
// once Install has run again.
func TestARoleThatWasGrantedItsRightsAfterInstall(t *testing.T) {
	s, db, service := installed(t)
	b := newBeside(t, service)
	role := "late_" + s.name
	s.exec(t, "CREATE ROLE "+role+" LOGIN", "GRANT SELECT, INSERT, UPDATE, DELETE ON sessions, events, app_states, user_states TO "+role)
	pool := s.open(t, role)
	late := around(t, s.sessions, pool)
	if err := late.AppendRecord(t.Context(), b.live, b.record); err != nil {
		t.Fatalf("AppendRecord: %v", err)
	}
	again := b.history.Record("r2", compactiontest.IDs(b.history.Events[1:3])...)
	if err := late.AppendRecord(t.Context(), b.live, again); !errors.Is(err, adkdb.ErrRecordSuperseded) {
		t.Errorf("a record of a covered event: %v", err)
	}
	mustVerify(t, db)
	if _, part := getActive(t, service, "s"); part == nil || !part.Partial() || !sameView(t, service, "s") {
		t.Error("the tables do not know the record")
	}
	if _, part := getActive(t, late, "s"); part != nil {
		t.Error("a role reads tables that it has no right to")
	}

	if err := adkdb.Install(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	late = around(t, s.sessions, pool)
	if _, part := getActive(t, late, "s"); part == nil || !part.Partial() || !sameView(t, late, "s") {
		t.Error("a session is loaded whole after Install gave the role its rights")
	}
	if _, ok, err := late.Lease(t.Context(), b.live, time.Minute); !ok || err != nil {
		t.Errorf("a lease after Install gave the role its rights: %t, %v", ok, err)
	}
}
