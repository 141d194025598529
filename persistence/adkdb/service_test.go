package adkdb_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // a driver of another kind

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

func otherDatabase(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestWhatNewRefuses(t *testing.T) {
	t.Parallel()
	db, inner := otherDatabase(t), session.InMemoryService()
	once, err := adkdb.New(inner, db)
	if err != nil {
		t.Fatal(err)
	}
	var none *adkdb.Service
	for name, tt := range map[string]struct {
		inner session.Service
		db    *sql.DB
		says  string
	}{
		"no service":           {nil, db, "inner session service is nil"},
		"a nil service":        {none, db, "inner session service is nil"},
		"no pool":              {inner, nil, "db is nil"},
		"a service of its own": {once, db, "already"},
	} {
		if _, err := adkdb.New(tt.inner, tt.db); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if once.Unwrap() != inner {
		t.Error("Unwrap returns another service")
	}
}

// TestAServerOfAnotherKindIsRefused before anything is stored, and ADK's methods go on.
func TestAServerOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := adkdb.New(session.InMemoryService(), otherDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	h := (&compactiontest.History{}).Turns(2, "agent")
	if err := s.AppendRecord(ctx, resp.Session, h.Record("r", "e1")); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("AppendRecord: %v", err)
	}
	if _, ok, err := s.Lease(ctx, resp.Session, time.Minute); ok || err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("Lease: %t, %v", ok, err)
	}
	if _, err := s.Records(ctx, &session.GetRequest{AppName: "app", UserID: "user", SessionID: "s"}); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("Records: %v", err)
	}
	if err := s.AppendEvent(ctx, resp.Session, h.Events[0]); err != nil {
		t.Errorf("AppendEvent: %v", err)
	}
	if listed, err := s.List(ctx, &session.ListRequest{AppName: "app", UserID: "user"}); err != nil || len(listed.Sessions) != 1 {
		t.Errorf("List: %v, %v", listed, err)
	}
	if err := s.Delete(ctx, &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: "s"}); err != nil {
		t.Errorf("Delete: %v", err)
	}
}

// TestWhatIsNoRecordIsRefused before the server is asked.
func TestWhatIsNoRecordIsRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := adkdb.New(session.InMemoryService(), otherDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	h := (&compactiontest.History{}).Turns(2, "agent")
	withState, damaged := h.Record("r", "e1"), h.Record("r", "e1")
	withState.Actions.StateDelta = map[string]any{"a": 1}
	for k := range damaged.CustomMetadata {
		damaged.CustomMetadata[k] = "no record"
	}
	for name, tt := range map[string]struct {
		sess session.Session
		ev   *session.Event
		says string
	}{
		"no session":       {nil, h.Record("r", "e1"), "session is nil"},
		"no event":         {resp.Session, nil, "event is nil"},
		"a message":        {resp.Session, h.Events[0], "not a compaction record"},
		"state":            {resp.Session, withState, "state delta"},
		"a damaged record": {resp.Session, damaged, "cannot be read"},
	} {
		if err := s.AppendRecord(ctx, tt.sess, tt.ev); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := s.Lease(ctx, nil, time.Minute); err == nil || !strings.Contains(err.Error(), "session is nil") {
		t.Errorf("a lease without a session: %v", err)
	}
	if _, _, err := s.Lease(ctx, resp.Session, 0); err == nil || !strings.Contains(err.Error(), "must be positive") {
		t.Errorf("a lease of no time: %v", err)
	}
}
