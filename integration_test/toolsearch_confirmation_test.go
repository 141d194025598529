package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// A model finds a tool that needs a confirmation, and calls it in the next step. The approval may come from a
// new process.
func TestAFoundToolBehindAConfirmationRunsOnceItIsApproved(t *testing.T) {
	t.Parallel()
	for _, approved := range []bool{true, false} {
		for _, restarted := range []bool{true, false} {
			for _, stream := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
				t.Run(fmt.Sprintf("approved %t, restarted %t, stream %s", approved, restarted, stream), func(t *testing.T) {
					t.Parallel()
					a := newSearchApp(t, storages.Persistence(t), func(a *searchApp) agent.Agent {
						made := a.agent("assistant", nil)
						a.models["assistant"].runs = []script{
							{says(direct("tool_search", map[string]any{"query": "svc_29"})), says(signed(through("svc_29", map[string]any{"n": 1.0})), through("svc_01", map[string]any{"n": 2.0}))},
							{},
						}
						return made
					}, func(a *searchApp) { a.stream = stream })
					asked := confirmationIn(a.send(genai.NewContentFromText("Please use service 29.", genai.RoleUser)))
					if asked == nil {
						t.Fatal("nobody was asked for a confirmation")
					}
					original, err := toolconfirmation.OriginalCallFrom(asked)
					if err != nil || original.Name != "svc_29" || fmt.Sprint(original.Args["n"]) != "1" {
						t.Fatalf("asked for %+v, %v", original, err)
					}
					if len(a.seen.ran["svc_29"]) > 0 || !slices.Equal(a.seen.ran["svc_01"], []int{2}) {
						t.Fatalf("before the approval, the tools ran with %v", a.seen.ran)
					}
					if restarted {
						a.open()
					}
					a.send(answerTo(asked, map[string]any{"confirmed": approved}))
					want := []int(nil)
					if approved {
						want = []int{1}
					}
					if got := a.seen.ran["svc_29"]; !slices.Equal(got, want) {
						t.Errorf("the tool ran with %v, want %v", got, want)
					}
					last := a.models["assistant"].last
					if !strings.Contains(last, `"name":"tool_call"`) || approved != strings.Contains(last, `"by":"svc_29"`) || approved == strings.Contains(last, "rejected") {
						t.Errorf("the model does not see the outcome under tool_call: %s", last)
					}
					if names := a.stored(); names["svc_29"] != 1 || names["tool_call"] != 0 {
						t.Errorf("stored calls: %v", names)
					}
					a.play(1)
				})
			}
		}
	}
}

// confirmationIn returns the call by which ADK asks for a confirmation, nil if there is none.
func confirmationIn(events []*session.Event) *genai.FunctionCall {
	for _, ev := range events {
		for _, call := range requests.Calls(ev.Content) {
			if call.Name == toolconfirmation.FunctionCallName {
				return call
			}
		}
	}
	return nil
}
