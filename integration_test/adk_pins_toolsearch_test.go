package integration_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/skilltoolset"
	"google.golang.org/adk/tool/skilltoolset/skill"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// fixedTools is a toolset of tools that never change.
type fixedTools []tool.Tool

func (fixedTools) Name() string                                       { return "fixed" }
func (f fixedTools) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return f, nil }

// The category of such tools therefore follows from their types.
func TestPinTheTypesOfADKsTools(t *testing.T) {
	t.Parallel()
	const adkTools = "google.golang.org/adk/tool"
	skills, err := skilltoolset.New(t.Context(), skilltoolset.Config{Source: skill.NewFileSystemSource(fstest.MapFS{})})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := skills.Tools(nil)
	if err != nil || len(tools) == 0 {
		t.Fatal(err)
	}
	for _, of := range tools {
		if name := reflect.TypeOf(of).Elem().Name(); !strings.Contains(name, "["+adkTools+"/skilltoolset") {
			t.Errorf("the type of %s is named %s", of.Name(), name)
		}
	}
	wrapped, err := tool.WithConfirmation(fixedTools(tools[:1]), true, nil).Tools(nil)
	if err != nil {
		t.Fatal(err)
	}
	wrapper := reflect.ValueOf(wrapped[0]).Elem()
	if path := wrapper.Type().PkgPath(); path != adkTools {
		t.Errorf("the type of a tool behind a confirmation is from %s", path)
	}
	if inner := wrapper.FieldByName("runnableTool"); !inner.IsValid() || inner.Elem().Type() != reflect.TypeOf(tools[0]) {
		t.Errorf("a tool behind a confirmation is not in the field runnableTool of %s", wrapper.Type())
	}
}

// The map of a request may therefore be written, but its declarations only in a copy: other requests may
// share them.
func TestPinEveryRequestHasAConfigAndToolsOfItsOwn(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	configs, maps := map[*genai.GenerateContentConfig]bool{}, map[uintptr]bool{}
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		configs[req.Config], maps[reflect.ValueOf(req.Tools).Pointer()] = true, true
		req.Tools["planted"] = nil
		if n < 2 {
			return compactiontest.CallTool("look", map[string]any{})
		}
		return compactiontest.Say("Done.")
	}}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) {
		cfg.Tools, cfg.GenerateContentConfig = []tool.Tool{pinTool(t, "look", nil)}, &genai.GenerateContentConfig{MaxOutputTokens: 100}
	})
	seen := 0
	count, err := plugin.New(plugin.Config{Name: "count", BeforeModelCallback: func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
		seen = max(seen, len(req.Tools))
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	_ = pinTurn(t, service, root, count) // the planted tool ends the turn
	_ = pinTurn(t, service, root, count)
	if len(configs) < 2 || len(maps) != len(configs) || seen != 1 {
		t.Errorf("%d configs, %d maps, at most %d tools before the model", len(configs), len(maps), seen)
	}
}

// The plugin therefore keeps the session of a run from its beginning.
func TestPinARunAndItsCallbacksHaveOneInvocationIDAndCallbacksNoSession(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var begun, called string
	llm := &pinned{name: "m", answer: func(context.Context, int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Done.") }}
	spy, err := plugin.New(plugin.Config{
		Name: "spy",
		BeforeRunCallback: func(ctx agent.InvocationContext) (*genai.Content, error) {
			begun = ctx.InvocationID()
			if ctx.Session() == nil {
				t.Error("a run begins without a session")
			}
			return nil, nil
		},
		BeforeModelCallback: func(ctx agent.CallbackContext, _ *model.LLMRequest) (*model.LLMResponse, error) {
			called = ctx.InvocationID()
			if adk.Invocation(ctx) != nil {
				t.Error("the context of a callback has the session")
			}
			return nil, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := pinTurn(t, service, pinAgent(t, llm, nil), spy); err != nil {
		t.Fatal(err)
	}
	if begun == "" || begun != called {
		t.Errorf("the run is %q, its callback's %q", begun, called)
	}
}
