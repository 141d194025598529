package integration_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/server/adkrest"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// marking is a plugin that puts a value into the state with every event that holds a call.
func marking(t *testing.T, key string, value func(ev *session.Event) any) *plugin.Plugin {
	t.Helper()
	return hooked(t, plugin.Config{Name: "marking", OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
		if !ev.Partial && len(requests.Calls(ev.Content)) > 0 {
			if ev.Actions.StateDelta == nil {
				ev.Actions.StateDelta = map[string]any{}
			}
			ev.Actions.StateDelta[key] = value(ev)
		}
		return nil, nil
	}})
}

// The state of such a session names the one that pays for its calls, at any depth.
func TestPinAnAgentAsAToolCopiesTheStateOfItsParent(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			service := store.Open(t)
			createBare(t, service)
			var mu sync.Mutex
			seen := map[string]any{} // by agent
			llm := &tireless{name: "m", says: func(_ string, own int, _ *model.LLMRequest) *model.LLMResponse {
				if own == 1 {
					return compactiontest.Say("Done.")
				}
				return nil
			}}
			spy := spying{llm, func(ic agent.InvocationContext) {
				mu.Lock()
				defer mu.Unlock()
				value, err := ic.Session().State().Get("longsession:test")
				if err != nil {
					value = err.Error()
				}
				if seen[ic.Agent().Name()] == nil {
					seen[ic.Agent().Name()] = value
				}
				if _, err := ic.Session().State().Get("_adk_of_the_parent"); (err == nil) && ic.Agent().Name() != "asker" {
					t.Errorf("%s sees a key of ADK's own", ic.Agent().Name())
				}
			}}
			deeper := llmAgent(t, "deeper", spy, nil, pinTool(t, "look", nil))
			expert := llmAgent(t, "expert", spy, nil, agenttool.New(deeper, nil))
			root := llmAgent(t, "asker", spy, nil, agenttool.New(expert, nil))
			marks := marking(t, "longsession:test", func(ev *session.Event) any {
				ev.Actions.StateDelta["_adk_of_the_parent"] = "x"
				return "of " + ev.ID
			})
			p := guardedTurn(t, t.Context(), runnerOf(t, service, root, marks), ref, agent.RunConfig{}, 0)
			if p.err() != nil {
				t.Fatal(p.err())
			}
			want := "of " + p.events[0].ID
			if seen["expert"] != want || seen["deeper"] != want {
				t.Errorf("the agents see %v, want %q at both depths", seen, want)
			}
			if stored, err := getBare(t, service).State().Get("longsession:test"); err != nil || stored != want {
				t.Errorf("stored with the event is %v, %v", stored, err)
			}
			if delta := eventsOf(getBare(t, service))[1].Actions.StateDelta["longsession:test"]; delta != want {
				t.Errorf("the event has %v", delta)
			}
		})
	}
}

// spying is a model that shows the contexts of its calls.
type spying struct {
	model.LLM
	called func(agent.InvocationContext)
}

func (m spying) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	if ic, ok := ctx.(agent.InvocationContext); ok {
		m.called(ic)
	}
	return m.LLM.GenerateContent(ctx, req, stream)
}

// So a total in the state is written from OnEvent, which the runner calls one after the other.
func TestPinStateThatParallelCallbacksSetIsLost(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	llm := &tireless{name: "m", says: func(string, int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Done.") }}
	const agents = 5
	var subs []agent.Agent
	for _, name := range []string{"a1", "a2", "a3", "a4", "a5"} {
		subs = append(subs, llmAgent(t, name, llm, nil))
	}
	root := must[agent.Agent](t)(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "side", SubAgents: subs}}))
	var read sync.WaitGroup
	read.Add(agents)
	counts := hooked(t, plugin.Config{Name: "counts", AfterModelCallback: func(ctx agent.CallbackContext, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
		before, err := ctx.State().Get("n")
		if err != nil {
			before = 0
		}
		read.Done()
		read.Wait()
		return nil, ctx.State().Set("n", before.(int)+1)
	}})
	if p := guardedTurn(t, t.Context(), runnerOf(t, service, root, counts), ref, agent.RunConfig{}, 0); p.err() != nil {
		t.Fatal(p.err())
	}
	if n, err := getBare(t, service).State().Get("n"); err != nil || n != 1 || llm.count() != agents {
		t.Errorf("%v is stored after %d calls (%v)", n, llm.count(), err)
	}
}

// The cost of a call must be settled before the last response is handed on.
func TestPinToolsRunWhileTheModelHandsOverItsResponse(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	llm := &tireless{name: "m", says: func(_ string, own int, _ *model.LLMRequest) *model.LLMResponse {
		if own == 3 {
			return compactiontest.Say("Done.")
		}
		return nil
	}}
	ran := 0
	look := pinTool(t, "look", func() {
		llm.mu.Lock()
		defer llm.mu.Unlock()
		ran++
		if llm.finished != llm.calls-1 {
			t.Errorf("tool %d runs after %d of %d calls have ended", ran, llm.finished, llm.calls)
		}
	})
	for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		llm.of = nil
		if p := guardedTurn(t, t.Context(), runnerOf(t, service, llmAgent(t, "worker", llm, nil, look)), ref, agent.RunConfig{StreamingMode: mode}, 0); p.err() != nil {
			t.Fatal(p.err())
		}
	}
	if ran != 6 {
		t.Errorf("%d tools ran", ran)
	}
}

// The tools of the response that reached a bound are answered there.
func TestPinAResultOfBeforeToolTakesTheToolsPlace(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	llm := &tireless{name: "m", says: func(_ string, own int, _ *model.LLMRequest) *model.LLMResponse {
		if own == 1 {
			return compactiontest.Say("Done.")
		}
		return compactiontest.CallTool("look", map[string]any{"n": 1}, map[string]any{"n": 2})
	}}
	look := pinTool(t, "look", func() { t.Error("the tool ran") })
	p := guardedTurn(t, t.Context(), runnerOf(t, service, llmAgent(t, "worker", llm, nil, look), hooked(t, plugin.Config{Name: "skips", BeforeToolCallback: func(agent.ToolContext, tool.Tool, map[string]any) (map[string]any, error) {
		return map[string]any{"error": "not run"}, nil
	}})), ref, agent.RunConfig{}, 0)
	if p.err() != nil {
		t.Fatal(p.err())
	}
	answered := 0
	for _, response := range requests.Responses(eventsOf(getBare(t, service))[2].Content) {
		if response.Response["error"] == "not run" {
			answered++
		}
	}
	if problems := requests.Problems(llm.requests[1].Contents); answered != 2 || len(problems) > 0 {
		t.Errorf("%d calls are answered: %v", answered, problems)
	}
}

// For REST servers a stop can be an event with an error code.
func TestPinTheRESTServerDropsTheEventsOfAFailedRun(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/run", "/run_sse"} {
		llm := &tireless{name: "m", during: func(_ context.Context, n int) error {
			if n == 1 {
				return &stopped{n}
			}
			return nil
		}}
		service := session.InMemoryService()
		createBare(t, service)
		root := llmAgent(t, "app", llm, nil, pinTool(t, "look", nil))
		server, err := adkrest.NewServer(adkrest.ServerConfig{SessionService: service, SSEWriteTimeout: time.Minute, AgentLoader: agent.NewSingleLoader(root), PluginConfig: runner.PluginConfig{}})
		if err != nil {
			t.Fatal(err)
		}
		body := mustJSON(t, map[string]any{"appName": ref.AppName, "userId": ref.UserID, "sessionId": ref.SessionID, "newMessage": genai.NewContentFromText("Go on.", genai.RoleUser)})
		status, text := post(t, server, path, string(body))
		if !strings.Contains(text, "stopped at call 1") {
			t.Errorf("%s: no error in %s", path, text)
		}
		if failed, events := status >= 500, strings.Contains(text, `"functionResponse"`); failed != (path == "/run") || events == failed {
			t.Errorf("%s: status %d, events are in the body: %v", path, status, events)
		}
		if n := getBare(t, service).Events().Len(); n != 3 {
			t.Errorf("%s: %d events are stored", path, n)
		}
	}
}

// post sends a body to a server of the test's own.
func post(t *testing.T, handler http.Handler, path, body string) (status int, text string) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	resp, err := server.Client().Post(server.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// An error by a plugin and one by a model pass the hooks differently: only the second is shown to OnModelError.
func TestPinARefusalOfAPluginIsNotShownToLaterHooks(t *testing.T) {
	t.Parallel()
	for _, byModel := range []bool{false, true} {
		llm, shown := &tireless{name: "m"}, map[string]int{}
		if byModel {
			llm.during = func(context.Context, int) error { return &stopped{1} }
		}
		first := plugin.Config{Name: "first"}
		if !byModel {
			first.BeforeModelCallback = func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) { return nil, &stopped{1} }
		}
		second := plugin.Config{
			Name: "second",
			BeforeModelCallback: func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
				shown["before"]++
				return nil, nil
			},
			AfterModelCallback: func(agent.CallbackContext, *model.LLMResponse, error) (*model.LLMResponse, error) {
				shown["after"]++
				return nil, nil
			},
			OnModelErrorCallback: func(agent.CallbackContext, *model.LLMRequest, error) (*model.LLMResponse, error) {
				shown["error"]++
				return nil, nil
			},
		}
		p := guardedTurn(t, t.Context(), runnerOf(t, session.InMemoryService(), llmAgent(t, "worker", llm, nil), hooked(t, first), hooked(t, second)), ref, agent.RunConfig{}, 0)
		var typed *stopped
		if !errors.As(p.err(), &typed) {
			t.Errorf("the run ends with %v", p.err())
		}
		if byModel && (shown["before"] != 1 || shown["error"] != 1) || !byModel && len(shown) > 0 || shown["after"] > 0 {
			t.Errorf("by the model %v: shown to the second plugin: %v", byModel, shown)
		}
	}
}
