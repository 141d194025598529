package integration_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// brokenToolset has no list.
type brokenToolset struct{ err error }

func (brokenToolset) Name() string { return "broken" }

func (ts brokenToolset) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return nil, ts.err }

// pinToolsets runs a turn of an agent with toolsets or tools.
func pinToolsets(t *testing.T, llm model.LLM, change func(*llmagent.Config)) error {
	t.Helper()
	service := session.InMemoryService()
	createBare(t, service)
	return pinTurn(t, service, pinAgent(t, llm, change))
}

// toolsearch.Group never returns an error for this reason.
func TestPinTheErrorOfAToolsetEndsTheTurn(t *testing.T) {
	t.Parallel()
	down, llm := errors.New("down"), scripted()
	err := pinToolsets(t, llm, func(cfg *llmagent.Config) { cfg.Toolsets = []tool.Toolset{brokenToolset{down}} })
	if !errors.Is(err, down) || llm.calls > 0 {
		t.Errorf("the turn ends with %v after %d model calls", err, llm.calls)
	}
}

// Of two tools of one name, toolsearch.Group leaves its own out.
func TestPinTwoToolsOfOneNameEndTheTurn(t *testing.T) {
	t.Parallel()
	llm := scripted()
	err := pinToolsets(t, llm, func(cfg *llmagent.Config) {
		cfg.Tools = []tool.Tool{pinTool(t, "look", nil)}
		cfg.Toolsets = []tool.Toolset{&pinToolset{tools: []tool.Tool{pinTool(t, "look", nil)}}}
	})
	if err == nil || !strings.Contains(err.Error(), "duplicate tool") || llm.calls > 0 {
		t.Errorf("the turn ends with %v after %d model calls", err, llm.calls)
	}
}

// asked is a tool with no more methods than every tool has.
type asked struct{}

func (asked) Name() string        { return "asked" }
func (asked) Description() string { return "A tool." }
func (asked) IsLongRunning() bool { return false }

// askedInRequests puts itself into requests.
type askedInRequests struct{ asked }

func (askedInRequests) pack(req *model.LLMRequest, t any) error {
	req.Tools = map[string]any{"asked": t}
	return nil
}

func (a askedInRequests) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	return a.pack(req, a)
}

// askedToRun runs, and askedToShow shows its result to the user if it ends the turn.
type (
	askedToRun  struct{ askedInRequests }
	askedToShow struct{ askedToRun }
)

func (askedToRun) Declaration() *genai.FunctionDeclaration { return nil }

func (askedToRun) Run(ctx agent.ToolContext, _ any) (map[string]any, error) {
	ctx.Actions().SkipSummarization = true
	return map[string]any{"result": "ran"}, nil
}

func (a askedToRun) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	return a.pack(req, a)
}

func (askedToShow) DisplayResultOnSkipSummarization() bool { return true }

func (a askedToShow) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	return a.pack(req, a)
}

// askedToDoBoth runs and streams.
type askedToDoBoth struct{ askedToRun }

func (askedToDoBoth) RunStream(agent.ToolContext, any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("streamed", nil) }
}

func (a askedToDoBoth) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	return a.pack(req, a)
}

// A wrapper around a tool must have the methods that the tool has, because ADK looks for each of them.
func TestPinWhatADKAsksOfATool(t *testing.T) {
	t.Parallel()
	err := pinToolsets(t, scripted(), func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{asked{}} })
	if err == nil || !strings.Contains(err.Error(), "RequestProcessor") {
		t.Errorf("a tool without ProcessRequest: %v, want an error that ends the turn", err)
	}
	shown := 2
	if adk.Major == 2 { // which leaves it to the app what a person sees
		shown = 1
	}
	for name, c := range map[string]struct {
		tool       tool.Tool
		key, value string
		parts      int
	}{
		"runs":           {askedToRun{}, "result", "ran", 1},
		"is shown":       {askedToShow{}, "result", "ran", shown},
		"does both":      {askedToDoBoth{}, "result", "streamed", 1},
		"can do nothing": {askedInRequests{}, "error", "not found", 1},
	} {
		var seen *genai.Content
		service := session.InMemoryService()
		createBare(t, service)
		llm := &pinned{name: "m", answer: func(_ context.Context, n int, _ *model.LLMRequest) *model.LLMResponse {
			if n == 0 {
				return compactiontest.CallTool("asked", nil)
			}
			return compactiontest.Say("Done.")
		}}
		if err := pinTurn(t, service, pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{c.tool} })); err != nil {
			t.Fatal(err)
		}
		resp, err := service.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
		if err != nil {
			t.Fatal(err)
		}
		for ev := range resp.Session.Events().All() {
			if len(requests.Responses(ev.Content)) > 0 {
				seen = ev.Content
			}
		}
		if seen == nil {
			t.Fatalf("%s: no response", name)
		}
		text, _ := seen.Parts[0].FunctionResponse.Response[c.key].(string)
		if !strings.Contains(text, c.value) || len(seen.Parts) != c.parts {
			t.Errorf("%s: %v in %d parts", name, seen.Parts[0].FunctionResponse.Response, len(seen.Parts))
		}
	}
}
