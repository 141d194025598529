package integration_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/server/adka2a/v2"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// promptAfter stores events, sends a request to an agent in branch "par.a", and returns its prompt.
func promptAfter(t *testing.T, events ...*session.Event) string {
	t.Helper()
	service := session.InMemoryService()
	sess := createBare(t, service)
	for _, ev := range events {
		if err := service.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
	}
	llm := compactiontest.NewModel("m", func(int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Done.") })
	sub, err := llmagent.New(llmagent.Config{Name: "a", Model: llm})
	if err != nil {
		t.Fatal(err)
	}
	root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: []agent.Agent{sub}}})
	if err != nil {
		t.Fatal(err)
	}
	runOnce(t, service, root)
	if requests := llm.Requests(); len(requests) == 1 {
		return canonical(requests[0])
	}
	t.Fatalf("%d requests, want one", len(llm.Requests()))
	return ""
}

func runOnce(t *testing.T, service session.Service, root agent.Agent) {
	t.Helper()
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: root, SessionService: service})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// adk.Visible implements the same rule.
func TestPinAnAgentReadsItsOwnBranchAndItsAncestors(t *testing.T) {
	t.Parallel()
	branches := []string{"", "par", "par.a", "par.a.x", "par.aa", "par.b", "pa", "other"}
	var events []*session.Event
	for i, branch := range branches {
		ev := said("e"+branch, "user", compactiontest.Fact(i), time.Now())
		ev.Branch = branch
		events = append(events, ev)
	}
	prompt, seen := promptAfter(t, events...), 0
	for i, branch := range branches {
		want := adk.Visible("par.a", branch)
		if got := strings.Contains(prompt, compactiontest.Fact(i)); got != want {
			t.Errorf("an event of branch %q is in the prompt of par.a: %v, want %v", branch, got, want)
		}
		if want {
			seen++
		}
	}
	if seen != 3 {
		t.Errorf("%d branches are visible, want those of the root, par and par.a", seen)
	}
}

// adk.Prompted must know the names of ADK's own calls.
func TestPinPromptsHoldNoRequestsToTheUser(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"lookup", toolconfirmation.FunctionCallName, "adk_request_credential"} {
		call, response := said("call", "a", "", time.Now()), said("response", "user", "", time.Now())
		call.Content.Parts = []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "c", Name: name, Args: map[string]any{"why": compactiontest.Fact(i)}}}}
		response.Content.Parts = []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "c", Name: name, Response: map[string]any{"result": "done"}}}}
		if got, want := strings.Contains(promptAfter(t, call, response), compactiontest.Fact(i)), adk.Prompted(name); got != want {
			t.Errorf("a call of %s is in the prompt: %v, want %v", name, got, want)
		}
	}
}

// adk.Classify reports which events a prompt may contain.
func TestPinAnEventSpeaksWithContentOrATranscription(t *testing.T) {
	t.Parallel()
	heard := said("heard", "user", "", time.Now())
	heard.Content, heard.InputTranscription = nil, &genai.Transcription{Text: compactiontest.Fact(1)}
	state := said("state", "user", "", time.Now())
	state.Content, state.Actions.StateDelta = nil, map[string]any{"fact": compactiontest.Fact(2)}
	for i, ev := range []*session.Event{said("text", "user", compactiontest.Fact(0), time.Now()), heard, state} {
		if got, want := strings.Contains(promptAfter(t, ev), compactiontest.Fact(i)), adk.Classify(ev).Is(adk.Speaks); got != want {
			t.Errorf("event %s is in the prompt: %v, want %v", ev.ID, got, want)
		}
	}
}

// After such an event, ADK does not call the model again.
func TestPinATurnEndsWithATextOrAResponseThatIsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, skip := range []bool{false, true} {
		look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks."}, func(ctx agent.ToolContext, _ struct{}) (map[string]any, error) {
			ctx.Actions().SkipSummarization = skip
			return map[string]any{"result": "seen"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		llm := compactiontest.NewModel("m", func(n int, _ *model.LLMRequest) *model.LLMResponse {
			if n == 0 {
				return compactiontest.CallTool("look", map[string]any{})
			}
			return compactiontest.Say("Done.")
		})
		root, err := llmagent.New(llmagent.Config{Name: "a", Model: llm, Tools: []tool.Tool{look}})
		if err != nil {
			t.Fatal(err)
		}
		service := session.InMemoryService()
		createBare(t, service)
		runOnce(t, service, root)
		want := 2
		if skip {
			want = 1
		}
		if n := len(llm.Requests()); n != want {
			t.Errorf("SkipSummarization %v: the model was asked %d times, want %d", skip, n, want)
		}
		events := getBare(t, service).Events()
		for i := range events.Len() {
			if got, last := adk.Classify(events.At(i)).Is(adk.EndsTurn), i == events.Len()-1; got != last {
				t.Errorf("SkipSummarization %v: event %d of %d ends the turn: %v", skip, i, events.Len(), got)
			}
		}
	}
}

// adk.Remote recognizes remote events by the prefix of these keys.
func TestPinRemoteContextIsKeptUnderA2AKeys(t *testing.T) {
	t.Parallel()
	ev := said("e", "far", "Hello.", time.Now())
	ev.CustomMetadata = adka2a.ToCustomMetadata("task", "context")
	if !adk.Classify(ev).Is(adk.Remote) {
		t.Errorf("an event with the metadata %v is not classified as remote", ev.CustomMetadata)
	}
}

// adk.WithoutTemp returns what a handle shows of an event that was appended through it.
func TestPinHandlesDropTemporaryState(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]session.Service{"inmemory": session.InMemoryService(), "database": storages.Database(t).Open(t)} {
		sess := createBare(t, service)
		ev := said("e", "a", "Done.", time.Now())
		ev.Actions.StateDelta = map[string]any{"kept": "yes", "temp:gone": "no"}
		want := adk.WithoutTemp(ev).Actions.StateDelta
		if err := service.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
		if got := sess.Events().At(0).Actions.StateDelta; len(got) != len(want) || got["kept"] != want["kept"] {
			t.Errorf("%s: the handle shows %v, want %v", name, got, want)
		}
		if _, err := getBare(t, service).State().Get("temp:gone"); err == nil {
			t.Errorf("%s: a temporary key was stored", name)
		}
	}
}
