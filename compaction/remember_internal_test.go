package compaction

import (
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// unknown is a service that compaction knows nothing about.
type unknown struct{ session.Service }

// TestJobOfADeletedSessionLeavesTheNewOneAlone: what waits in a session that was created anew under the
// same ID must not be given up when a job of the old one ends.
func TestJobOfADeletedSessionLeavesTheNewOneAlone(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Summarizer = &compactiontest.Oracle{}
	svc, err := NewCompactionService(unknown{session.InMemoryService()}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	createFor(t, svc, innerRef)
	old := svc.sessions.Of(innerRef)
	err = svc.Delete(t.Context(), &session.DeleteRequest{AppName: innerRef.AppName, UserID: innerRef.UserID, SessionID: innerRef.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	sess := createFor(t, svc, innerRef)
	for _, ev := range (&compactiontest.History{}).Turns(5, "agent").Events {
		if err := svc.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
	}
	st := svc.sessions.Of(innerRef)
	if err := st.Line.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(st.Waiting.All()); n != 1 {
		t.Fatalf("%d drafts wait, want 1", n)
	}
	svc.storage.Remember(old)
	if n := len(st.Waiting.All()); n != 1 {
		t.Errorf("%d drafts wait once the old session's job has ended, want 1", n)
	}
}
