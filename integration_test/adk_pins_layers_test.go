package integration_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// countedPlugin is a plugin that counts its callbacks by hook and agent. In live runs, tools and events come
// from two goroutines.
func countedPlugin(t *testing.T, name string, count map[string]int) *plugin.Plugin {
	t.Helper()
	var mu sync.Mutex
	note := func(hook string) {
		mu.Lock()
		defer mu.Unlock()
		count[hook]++
	}
	p, err := plugin.New(plugin.Config{
		Name: name,
		BeforeRunCallback: func(agent.InvocationContext) (*genai.Content, error) {
			note("BeforeRun")
			return nil, nil
		},
		AfterRunCallback: func(agent.InvocationContext) { note("AfterRun") },
		OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
			note("OnEvent " + ev.Author)
			return nil, nil
		},
		BeforeModelCallback: func(ctx agent.CallbackContext, _ *model.LLMRequest) (*model.LLMResponse, error) {
			note("BeforeModel " + ctx.AgentName())
			return nil, nil
		},
		AfterModelCallback: func(ctx agent.CallbackContext, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			note("AfterModel " + ctx.AgentName())
			return nil, nil
		},
		AfterToolCallback: func(agent.ToolContext, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			note("AfterTool")
			return nil, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Only the model wrapper can guard the requests of such an agent.
func TestPinAnAgentAsAToolRunsWithoutPlugins(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var app, id string
	expert, err := llmagent.New(llmagent.Config{Name: "expert", Description: "Knows.", Model: &pinned{name: "m", answer: func(ctx context.Context, _ int, _ *model.LLMRequest) *model.LLMResponse {
		ic, ok := ctx.(agent.InvocationContext)
		if !ok {
			t.Errorf("the model is called with a %T", ctx)
			return compactiontest.Say("Lost.")
		}
		app, id = ic.Session().AppName(), ic.Session().ID()
		return compactiontest.Say("Known.")
	}}})
	if err != nil {
		t.Fatal(err)
	}
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, _ *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			return compactiontest.CallTool("expert", map[string]any{"request": "Who?"})
		}
		return compactiontest.Say("Done.")
	}}
	count := map[string]int{}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{agenttool.New(expert, nil)} })
	if err := pinTurn(t, service, root, countedPlugin(t, "counts", count)); err != nil {
		t.Fatal(err)
	}
	if count["BeforeModel a"] != 2 || count["BeforeModel expert"] != 0 || count["OnEvent expert"] != 0 || count["BeforeRun"] != 1 {
		t.Errorf("callbacks: %v", count)
	}
	if app != "expert" || id == ref.SessionID || id == "" {
		t.Errorf("the expert runs in session %q of app %q", id, app)
	}
}

// Masking and the budget therefore do not exist in live runs, and results are cut in AfterTool there.
func TestPinLiveRunsCallNoModelCallbacks(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	a := newApp(t, storages.InMemory(), mode{name: "bare"}, unchecked)
	instructed := 0
	x := newActor(a, "assistant", "")
	api, llm := newLiveAPI(a, x, false)
	a.plugins = []*plugin.Plugin{countedPlugin(t, "counts", count)}
	a.startBare(a.llm(x, func(cfg *llmagent.Config) {
		cfg.Model, cfg.Tools = llm, []tool.Tool{a.lookup()}
		cfg.InstructionProvider = func(agent.ReadonlyContext) (string, error) {
			instructed++
			return "Be brief.", nil
		}
	}))
	a.turns = 1 // the model speaks first, and calls a tool
	api.connect(1)
	for name, atLeast := range map[string]int{"AfterTool": 1, "BeforeRun": 1, "AfterRun": 1, "OnEvent assistant": 3} {
		if count[name] < atLeast {
			t.Errorf("%s ran %d times, want at least %d", name, count[name], atLeast)
		}
	}
	if count["BeforeModel assistant"]+count["AfterModel assistant"] > 0 || instructed != 1 {
		t.Errorf("callbacks: %v; the instruction was asked for %d times", count, instructed)
	}
}

// pinToolset counts how often ADK asks it.
type pinToolset struct {
	tools            []tool.Tool
	listed, declared int
}

func (s *pinToolset) Name() string { return "set" }

func (s *pinToolset) Tools(agent.ReadonlyContext) ([]tool.Tool, error) {
	s.listed++
	return s.tools, nil
}

func (s *pinToolset) ProcessRequest(agent.ToolContext, *model.LLMRequest) error {
	s.declared++
	return nil
}

// The declarations of a run can change between steps only by what layers and tools do to a request.
func TestPinAToolsetIsListedOncePerRun(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, _ *model.LLMRequest) *model.LLMResponse {
		if n < 3 {
			return compactiontest.CallTool("look", map[string]any{"n": n})
		}
		return compactiontest.Say("Done.")
	}}
	set := &pinToolset{tools: []tool.Tool{pinTool(t, "look", nil)}}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Toolsets = []tool.Toolset{set} })
	if err := pinTurn(t, service, root); err != nil {
		t.Fatal(err)
	}
	if set.listed != 1 || set.declared != 4 {
		t.Errorf("in 4 steps Tools was called %d times and ProcessRequest %d times, want 1 and 4", set.listed, set.declared)
	}
}

// Such an error is replaced: it is long, and breaks the prefix cache of equal histories.
func TestPinTheErrorOfAnUnknownToolListsAllToolsInRandomOrder(t *testing.T) {
	t.Parallel()
	var tools []tool.Tool
	for _, name := range strings.Fields("ant bee cat dog eel fox gnu hen") {
		tools = append(tools, pinTool(t, name, nil))
	}
	texts := map[string]bool{}
	for range 12 {
		service := session.InMemoryService()
		createBare(t, service)
		llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
			if n == 0 {
				return compactiontest.CallTool("owl", map[string]any{"n": 1})
			}
			texts[canonical(req.Contents[len(req.Contents)-1])] = true
			return compactiontest.Say("Done.")
		}}
		if err := pinTurn(t, service, pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = tools })); err != nil {
			t.Fatal(err)
		}
	}
	if len(texts) < 2 {
		t.Errorf("12 runs have %d different errors", len(texts))
	}
	for text := range texts {
		for _, name := range strings.Fields("ant bee cat dog eel fox gnu hen") {
			if !strings.Contains(text, name) {
				t.Errorf("the error does not name %s: %s", name, text)
			}
		}
	}
}

// That response is the app's answer, so it is never cut.
func TestPinTheResponseOfSetModelResponseIsTheAnswer(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	llm := &pinned{name: "gemini-2.5-flash", variant: genai.BackendGeminiAPI, answer: func(context.Context, int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.CallTool("set_model_response", map[string]any{"city": "Oslo"})
	}}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) {
		cfg.OutputSchema = &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}}}
		cfg.Tools = []tool.Tool{pinTool(t, "look", nil)}
	})
	cuts, err := plugin.New(plugin.Config{Name: "cuts", OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
		for _, response := range requests.Responses(ev.Content) {
			response.Response = map[string]any{"city": "O"}
		}
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := pinTurn(t, service, root, cuts); err != nil {
		t.Fatal(err)
	}
	events := eventsOf(getBare(t, service))
	if last := events[len(events)-1]; last.Content.Parts[0].Text != `{"city":"O"}` {
		t.Errorf("the answer is %s", canonical(last.Content))
	}
}

// Two stacks on one runner are therefore refused by ADK.
func TestPinTwoPluginsOfOneNameAreRefused(t *testing.T) {
	t.Parallel()
	llm := &pinned{name: "m"}
	_, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: pinAgent(t, llm, nil), SessionService: session.InMemoryService(),
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{countedPlugin(t, "one", nil), countedPlugin(t, "one", nil)}},
	})
	if err == nil || !strings.Contains(err.Error(), "one") {
		t.Errorf("error %v", err)
	}
}
