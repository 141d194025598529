package compaction

import (
	"fmt"
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
	old := svc.states.of(innerRef)
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
	st := svc.states.of(innerRef)
	if err := st.line.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(st.waiting.All()); n != 1 {
		t.Fatalf("%d drafts wait, want 1", n)
	}
	svc.remember(old)
	if n := len(st.waiting.All()); n != 1 {
		t.Errorf("%d drafts wait once the old session's job has ended, want 1", n)
	}
}

// TestOnlyTheLongestUnusedSessionIsGivenUp: where too many have something to remember, its drafts are
// reported.
func TestOnlyTheLongestUnusedSessionIsGivenUp(t *testing.T) {
	t.Parallel()
	known := newStates(nil)
	var all []*sessionState
	for n := range maxRetained + 1 {
		st := known.of(SessionRef{SessionID: fmt.Sprint(n)})
		st.waiting.Add(&draft{})
		all = append(all, st)
		givenUp := known.remember(st)
		switch {
		case n < maxRetained && givenUp != nil:
			t.Fatalf("session %s is given up for session %d", givenUp.ref.SessionID, n)
		case n == maxRetained && givenUp != all[0]:
			t.Fatalf("%v is given up, want the first session", givenUp)
		}
	}
	if givenUp := known.remember(all[1]); givenUp != nil {
		t.Errorf("session %s is given up for one that is kept already", givenUp.ref.SessionID)
	}
}
