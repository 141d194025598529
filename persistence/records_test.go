package persistence_test

import (
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// Records returns every record, absorbed ones too, in the order of commits, and nothing else.
func TestRecordsAreReadAlone(t *testing.T) {
	t.Parallel()
	svc, err := persistence.NewSQLiteSessionService(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close() })
	created, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "ada", SessionID: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	h := (&compactiontest.History{}).Turns(3, "bot")
	h.Compact("r1", "e1", "e2").Compact("r2", "e3", "e4").Merge("r3", "r1", "r2")
	for _, ev := range h.Events {
		if err := svc.AppendEvent(t.Context(), created.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	found, err := svc.Records(t.Context(), &session.GetRequest{AppName: "app", UserID: "ada", SessionID: "chat", NumRecentEvents: 1})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, ev := range found {
		m, err := record.From(ev)
		if err != nil || m == nil {
			t.Fatalf("%+v: %v", ev, err)
		}
		ids = append(ids, m.RecordID)
	}
	if len(ids) != 3 || ids[0] != "r1" || ids[1] != "r2" || ids[2] != "r3" {
		t.Errorf("records %q", ids)
	}
	if _, err := svc.Records(t.Context(), &session.GetRequest{AppName: "app", UserID: "ada", SessionID: "none"}); !adk.IsNotFound(err) {
		t.Errorf("a session that does not exist: %v", err)
	}
	if _, err := svc.Records(t.Context(), &session.GetRequest{AppName: "app"}); err == nil {
		t.Error("an incomplete name is accepted")
	}
}
