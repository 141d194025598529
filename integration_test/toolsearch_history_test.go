package integration_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// without leaves out tools of an agent.
func without(names ...string) func(*llmagent.Config) {
	return func(cfg *llmagent.Config) {
		cfg.Tools = slices.DeleteFunc(cfg.Tools, func(t tool.Tool) bool { return slices.Contains(names, t.Name()) })
	}
}

// Tools of the history vanish between two runs, one of them declared. Requests stay such that the strictest
// provider accepts them, and a model that calls the tools again learns that they are gone.
func TestCallsOfVanishedToolsStayInRequestsThatProvidersAccept(t *testing.T) {
	t.Parallel()
	a := newSearchApp(t, storages.Persistence(t), oneSearcher, nil)
	a.play(4)
	m := a.models["assistant"]
	m.runs = []script{{says(through("svc_07", map[string]any{"n": 20.0}), direct("svc_07", map[string]any{"n": 21.0}))}}
	m.last = "" // the calls of note are sent as calls of tool_call from now on
	before := len(a.seen.ran["svc_07"])
	a.more = without("svc_07", "note")
	a.open()
	a.play(2)
	if len(a.seen.ran["svc_07"]) != before {
		t.Error("a tool that is gone has run")
	}
	if want := `There is no tool \"svc_07\". Did you mean svc_`; !strings.Contains(m.last, want) || !strings.Contains(m.last, "Find tools with tool_search.") {
		t.Errorf("the model is not told that the tool is gone: %s", m.last)
	}
}

// An app begins to defer tools in the middle of a session, and ends it again.
func TestASessionGoesOnWhereDeferralBeginsAndEnds(t *testing.T) {
	t.Parallel()
	a := newSearchApp(t, storages.Persistence(t), func(a *searchApp) agent.Agent {
		made := a.agent("assistant", nil)
		a.models["assistant"].runs = []script{{says(direct("svc_07", map[string]any{"n": 1.0}), direct("note", map[string]any{"n": 2.0}))}}
		return made
	}, func(a *searchApp) { a.bare = true })
	m := a.models["assistant"]
	for _, bare := range []bool{true, false, true, false} {
		a.bare, m.last = bare, ""
		a.open()
		a.play(2)
		if !bare {
			m.runs = []script{{says(through("svc_07", map[string]any{"n": 3.0})), says(through("svc_07", map[string]any{}))}}
			a.play(2)
		}
		m.runs = []script{{says(direct("svc_07", map[string]any{"n": 4.0}))}}
	}
	if names := a.stored(); names["svc_07"] != 12 || names["tool_call"] != 4 {
		t.Errorf("stored calls: %v", names)
	}
}

// The answer of a long-running tool comes from the user, to a new process, by ID alone.
func TestALateAnswerOfADeferredToolIsSentUnderToolCall(t *testing.T) {
	t.Parallel()
	a := newSearchApp(t, storages.Persistence(t), func(a *searchApp) agent.Agent {
		made := a.agent("assistant", func(cfg *llmagent.Config, _ *searcher) {
			slow, err := functiontool.New(functiontool.Config{Name: "svc_slow", Description: strings.Repeat("It takes days. ", 40), IsLongRunning: true},
				func(_ agent.ToolContext, args serviceArgs) (map[string]any, error) {
					return map[string]any{"n": args.N, "status": "pending"}, nil
				})
			if err != nil {
				a.t.Fatal(err)
			}
			cfg.Tools = append(cfg.Tools, slow)
		})
		a.models["assistant"].runs = []script{{says(direct("tool_search", map[string]any{"query": "svc_slow"})), says(through("svc_slow", map[string]any{"n": 5.0}))}, {}}
		return made
	}, nil)
	m := a.models["assistant"]
	var slow *genai.FunctionCall
	for _, ev := range a.send(genai.NewContentFromText("Order it.", genai.RoleUser)) {
		for _, call := range requests.Calls(ev.Content) {
			if call.Name == "svc_slow" {
				slow = call
				if !slices.Contains(ev.LongRunningToolIDs, call.ID) {
					t.Error("ADK does not know that the call is long-running")
				}
			}
		}
	}
	if slow == nil {
		t.Fatal("the tool was not called")
	}
	a.open()
	m.last = "" // the pending answer is replaced
	a.send(answerTo(slow, map[string]any{"n": 5, "status": "delivered"}))
	if !strings.Contains(m.last, "delivered") || strings.Contains(m.last, `"name":"svc_slow","response"`) {
		t.Errorf("the model does not see the answer under tool_call: %s", m.last)
	}
	a.play(1)
}

// A streaming tool is deferred, found and called like any other.
func TestAStreamingToolRunsThroughToolCall(t *testing.T) {
	t.Parallel()
	a := newSearchApp(t, storages.InMemory(), func(a *searchApp) agent.Agent {
		made := a.agent("assistant", func(cfg *llmagent.Config, _ *searcher) {
			streams, err := functiontool.NewStreaming(functiontool.Config{Name: "svc_stream", Description: strings.Repeat("It sends text. ", 40)},
				func(agent.ToolContext, serviceArgs) iter.Seq2[string, error] {
					return func(yield func(string, error) bool) { _ = yield("one ", nil) && yield("two", nil) }
				})
			if err != nil {
				a.t.Fatal(err)
			}
			cfg.Tools = append(cfg.Tools, streams)
		})
		a.models["assistant"].runs = []script{{says(direct("tool_search", map[string]any{"query": "svc_stream"})), says(through("svc_stream", map[string]any{"n": 5.0}))}}
		return made
	}, nil)
	a.play(1)
	if last := a.models["assistant"].last; !strings.Contains(last, "one two") || a.stored()["svc_stream"] != 1 {
		t.Errorf("the tool has not run: %s", last)
	}
}

// The partial response that a user sees first, and the final one, show one call.
func TestATranslatedCallHasOneIDInAStream(t *testing.T) {
	t.Parallel()
	a := newSearchApp(t, storages.InMemory(), oneSearcher, func(a *searchApp) { a.stream = agent.StreamingModeSSE })
	sharing := &sharingModel{content: says(through("svc_07", map[string]any{"n": 1.0}))}
	a.more = func(cfg *llmagent.Config) { cfg.Model = a.model(sharing) }
	a.open()
	var ids []string
	for _, ev := range a.send(genai.NewContentFromText("Go on.", genai.RoleUser)) {
		for _, call := range requests.Calls(ev.Content) {
			if call.Name != "svc_07" {
				t.Errorf("the user sees a call of %s", call.Name)
			}
			ids = append(ids, call.ID)
		}
	}
	if len(ids) != 2 || ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("the IDs are %q", ids)
	}
}

// sharingModel yields one content in a partial response and in the final one, as ADK's Gemini model does.
type sharingModel struct{ content *genai.Content }

func (*sharingModel) Name() string { return "sharing" }

func (m *sharingModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if m.content == nil {
			yield(compactiontest.Say("Done."), nil)
			return
		}
		content := m.content
		m.content = nil
		if yield(&model.LLMResponse{Content: content, Partial: true}, nil) {
			yield(&model.LLMResponse{Content: &genai.Content{Role: content.Role, Parts: content.Parts}, FinishReason: genai.FinishReasonStop}, nil)
		}
	}
}

// A model that calls a tool by a wrong name is led to the search, in the same words every time.
func TestACallOfAnUnknownToolLeadsToTheSearch(t *testing.T) {
	t.Parallel()
	a := newSearchApp(t, storages.InMemory(), func(a *searchApp) agent.Agent {
		made := a.agent("assistant", nil)
		a.models["assistant"].runs = []script{{says(direct("svc_7", map[string]any{"n": 1.0}), through("svc_7", map[string]any{"n": 2.0})), says(direct("zebra", map[string]any{"n": 3.0}), through("zebra", map[string]any{"n": 4.0}))}}
		return made
	}, func(a *searchApp) { a.whole = true })
	a.play(2)
	last := a.models["assistant"].last
	for text, n := range map[string]int{
		`There is no tool \"svc_7\". Did you mean svc_07, svc_17, svc_27? Find tools with tool_search.`: 4,
		`There is no tool \"zebra\". Find tools with tool_search.`:                                      4,
	} {
		if got := strings.Count(last, text); got != n {
			t.Errorf("%q stands %d times in the last request, want %d", text, got, n)
		}
	}
}
