package integration_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// A panic of a callback around a tool ends the process, because ADK calls it in a goroutine without a
// recover. No test in this process can show that; it is why each callback of this module recovers itself.

// callsOf is a model content with several calls. An agent named expert gets a question.
func callsOf(names ...string) *model.LLMResponse {
	content := &genai.Content{Role: genai.RoleModel}
	for i, name := range names {
		args := map[string]any{"n": i}
		if name == "expert" {
			args = map[string]any{"request": "Who?"}
		}
		content.Parts = append(content.Parts, genai.NewPartFromFunctionCall(name, args))
	}
	return &model.LLMResponse{Content: content}
}

// scripted is a model that gives one answer after the other.
func scripted(answers ...*model.LLMResponse) *pinned {
	return &pinned{name: "m", answer: func(_ context.Context, n int, _ *model.LLMRequest) *model.LLMResponse {
		if n < len(answers) {
			return answers[n]
		}
		return compactiontest.Say("Done.")
	}}
}

// streamingTool is a tool that returns the chunks.
func streamingTool(t *testing.T, name string, chunks ...string) tool.Tool {
	t.Helper()
	made, err := functiontool.NewStreaming(functiontool.Config{Name: name, Description: "Streams."}, func(agent.ToolContext, lookupArgs) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for _, chunk := range chunks {
				if !yield(chunk, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// hooked is a plugin with the hooks of cfg.
func hooked(t *testing.T, cfg plugin.Config) *plugin.Plugin {
	t.Helper()
	p, err := plugin.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The request that a layer prepares in BeforeModel can still be changed by the agent's callbacks, and
// what the model gets is the same request.
func TestPinPluginsSeeARequestBeforeTheAgentAndTheModel(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var order []string
	var seen []*model.LLMRequest
	note := func(who string) func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
		return func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
			order, seen = append(order, who), append(seen, req)
			return nil, nil
		}
	}
	llm := &pinned{name: "m", answer: func(_ context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
		order, seen = append(order, "model"), append(seen, req)
		return compactiontest.Say("Done.")
	}}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{note("agent")} })
	err := pinTurn(t, service, root, hooked(t, plugin.Config{Name: "first", BeforeModelCallback: note("first")}), hooked(t, plugin.Config{Name: "second", BeforeModelCallback: note("second")}))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "first second agent model" {
		t.Errorf("the order is %s", got)
	}
	if slices.ContainsFunc(seen, func(req *model.LLMRequest) bool { return req != seen[0] }) {
		t.Error("they see different requests")
	}
}

// So ours answer only where there is no other way.
func TestPinAPluginThatAnswersHidesTheRest(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var mu sync.Mutex
	count := map[string]int{}
	counts := func(who string, answers bool) plugin.Config {
		note := func(hook string) {
			mu.Lock()
			defer mu.Unlock()
			count[hook+" "+who]++
		}
		return plugin.Config{
			Name: who,
			AfterToolCallback: func(_ agent.ToolContext, _ tool.Tool, _, result map[string]any, _ error) (map[string]any, error) {
				note("AfterTool")
				if answers {
					return result, nil
				}
				return nil, nil
			},
			OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
				note("OnEvent")
				if answers {
					return ev, nil
				}
				return nil, nil
			},
			OnToolErrorCallback: func(agent.ToolContext, tool.Tool, map[string]any, error) (map[string]any, error) {
				note("OnToolError")
				if answers {
					return map[string]any{"error": "gone"}, nil
				}
				return nil, nil
			},
		}
	}
	agents := counts("agent", false)
	root := pinAgent(t, scripted(callsOf("look", "owl")), func(cfg *llmagent.Config) {
		cfg.Tools = []tool.Tool{pinTool(t, "look", nil)}
		cfg.AfterToolCallbacks = []llmagent.AfterToolCallback{agents.AfterToolCallback}
		cfg.OnToolErrorCallbacks = []llmagent.OnToolErrorCallback{agents.OnToolErrorCallback}
	})
	if err := pinTurn(t, service, root, hooked(t, counts("silent", false)), hooked(t, counts("answers", true)), hooked(t, counts("late", false))); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"AfterTool silent": 1, "AfterTool answers": 1, "OnEvent silent": 3, "OnEvent answers": 3, "OnToolError silent": 1, "OnToolError answers": 1,
	}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("callbacks: %v, want %v", count, want)
	}
}

// Results are therefore cut in OnEvent.
func TestPinOnlyOnEventSeesEveryResult(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var mu sync.Mutex
	var after, failed, results []string
	events := 0
	sees := hooked(t, plugin.Config{
		Name: "sees",
		AfterToolCallback: func(_ agent.ToolContext, of tool.Tool, _, _ map[string]any, _ error) (map[string]any, error) {
			mu.Lock()
			defer mu.Unlock()
			after = append(after, of.Name())
			return nil, nil
		},
		OnToolErrorCallback: func(_ agent.ToolContext, of tool.Tool, _ map[string]any, _ error) (map[string]any, error) {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, of.Name())
			return nil, nil
		},
		OnEventCallback: func(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
			if ctx.RunConfig() == nil {
				t.Error("a run that is not live has no RunConfig")
			}
			if responses := requests.Responses(ev.Content); len(responses) > 0 {
				events++
				for _, response := range responses {
					results = append(results, response.Name)
					response.Response = map[string]any{"changed": response.Name}
				}
			}
			return nil, nil
		},
	})
	root := pinAgent(t, scripted(callsOf("stream", "owl", "look", "stream")), func(cfg *llmagent.Config) {
		cfg.Tools = []tool.Tool{pinTool(t, "look", nil), streamingTool(t, "stream", "a", "b")}
	})
	if err := pinTurn(t, service, root, sees); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(after, failed, results, events); got != "[look] [owl] [stream owl look stream] 1" {
		t.Errorf("AfterTool, OnToolError, OnEvent and its events: %s", got)
	}
	stored := eventsOf(getBare(t, service))[2]
	for _, response := range requests.Responses(stored.Content) {
		if response.Response["changed"] != response.Name {
			t.Errorf("stored is %s: what OnEvent changes in place is lost", canonical(response.Response))
		}
	}
}

// That is how a plugin tells live runs from others; there the event may no longer be changed.
func TestPinLiveRunsHaveNoRunConfig(t *testing.T) {
	t.Parallel()
	a := newApp(t, storages.InMemory(), mode{name: "bare"}, unchecked)
	x := newActor(a, "assistant", "")
	api, llm := newLiveAPI(a, x, false)
	var mu sync.Mutex
	with, without := 0, 0
	note := func(ctx agent.InvocationContext) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.RunConfig() == nil {
			without++
		} else {
			with++
		}
	}
	var runs, tools []string
	a.plugins = []*plugin.Plugin{hooked(t, plugin.Config{
		Name: "notes",
		BeforeRunCallback: func(ctx agent.InvocationContext) (*genai.Content, error) {
			note(ctx)
			runs = append(runs, ctx.InvocationID())
			return nil, nil
		},
		OnEventCallback: func(ctx agent.InvocationContext, _ *session.Event) (*session.Event, error) {
			note(ctx)
			return nil, nil
		},
		AfterToolCallback: func(ctx agent.ToolContext, _ tool.Tool, _, _ map[string]any, _ error) (map[string]any, error) {
			mu.Lock()
			defer mu.Unlock()
			tools = append(tools, ctx.InvocationID())
			return nil, nil
		},
	})}
	a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.Model, cfg.Tools = llm, []tool.Tool{a.lookup()} }))
	a.turns = 1 // the model speaks first, and calls a tool
	api.connect(1)
	if with > 0 || without < 4 || len(runs) != 1 || len(tools) != 1 || tools[0] != runs[0] {
		t.Errorf("%d callbacks with a RunConfig and %d without; the runs %v have tools in %v", with, without, runs, tools)
	}
}
