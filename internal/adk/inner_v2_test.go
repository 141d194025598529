//go:build ignore

package adk_test

import (
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

type around struct{ session.Session }

// TestOnlySessionsOfADKAreLookedInto: what ADK puts around a session is found in a run, see
// TestAnAgentForOneTurnIsInOurSession.
func TestOnlySessionsOfADKAreLookedInto(t *testing.T) {
	service := session.InMemoryService()
	created, err := service.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for name, sess := range map[string]session.Session{
		"none": nil, "one of ADK": created.Session, "an app's": around{created.Session}, "an app's pointer": &around{created.Session},
		"an app's nil pointer": (*around)(nil),
	} {
		if adk.Inner(sess) != nil {
			t.Errorf("%s: a session was found in it", name)
		}
	}
}
