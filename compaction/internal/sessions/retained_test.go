package sessions

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// TestOnlyTheLongestUnusedSessionIsGivenUp: where too many have something to remember, its drafts
// are reported.
func TestOnlyTheLongestUnusedSessionIsGivenUp(t *testing.T) {
	t.Parallel()
	known := New(session.InMemoryService(), nil, Hooks{})
	var all []*State
	for n := range maxRetained + 1 {
		st := known.Of(adk.SessionRef{SessionID: fmt.Sprint(n)})
		st.Waiting.Add(&writer.Draft{})
		all = append(all, st)
		givenUp := known.Remember(st)
		switch {
		case n < maxRetained && givenUp != nil:
			t.Fatalf("session %s is given up for session %d", givenUp.Ref.SessionID, n)
		case n == maxRetained && givenUp != all[0]:
			t.Fatalf("%v is given up, want the first session", givenUp)
		}
	}
	if givenUp := known.Remember(all[1]); givenUp != nil {
		t.Errorf("session %s is given up for one that is kept already", givenUp.Ref.SessionID)
	}
}
