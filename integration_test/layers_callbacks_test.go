package integration_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// tally counts callbacks by what they were called for. It is safe for concurrent use.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what]++
}

// plugin returns a plugin with every callback.
func (c *tally) plugin(t *testing.T, name string) *plugin.Plugin {
	t.Helper()
	in := func(ctx interface{ AgentName() string }, what string) {
		c.add(name + " " + what + " " + ctx.AgentName())
	}
	made, err := plugin.New(plugin.Config{
		Name: name,
		OnUserMessageCallback: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
			c.add(name + " OnUserMessage")
			return nil, nil
		},
		OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
			c.add(name + " OnEvent " + ev.Author)
			return nil, nil
		},
		BeforeRunCallback: func(agent.InvocationContext) (*genai.Content, error) {
			c.add(name + " BeforeRun")
			return nil, nil
		},
		AfterRunCallback: func(agent.InvocationContext) { c.add(name + " AfterRun") },
		BeforeAgentCallback: func(ctx agent.CallbackContext) (*genai.Content, error) {
			in(ctx, "BeforeAgent")
			return nil, nil
		},
		AfterAgentCallback: func(ctx agent.CallbackContext) (*genai.Content, error) {
			in(ctx, "AfterAgent")
			return nil, nil
		},
		BeforeModelCallback: func(ctx agent.CallbackContext, _ *model.LLMRequest) (*model.LLMResponse, error) {
			in(ctx, "BeforeModel")
			return nil, nil
		},
		AfterModelCallback: func(ctx agent.CallbackContext, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			in(ctx, "AfterModel")
			return nil, nil
		},
		BeforeToolCallback: func(ctx agent.ToolContext, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			in(ctx, "BeforeTool")
			return nil, nil
		},
		AfterToolCallback: func(ctx agent.ToolContext, _ tool.Tool, _, _ map[string]any, _ error) (map[string]any, error) {
			in(ctx, "AfterTool")
			return nil, nil
		},
		OnToolErrorCallback: func(ctx agent.ToolContext, _ tool.Tool, _ map[string]any, _ error) (map[string]any, error) {
			in(ctx, "OnToolError")
			return nil, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// agent adds every callback to an agent.
func (c *tally) agent(cfg *llmagent.Config) {
	name := cfg.Name
	cfg.BeforeAgentCallbacks = append(cfg.BeforeAgentCallbacks, func(agent.CallbackContext) (*genai.Content, error) {
		c.add(name + "'s BeforeAgent")
		return nil, nil
	})
	cfg.AfterAgentCallbacks = append(cfg.AfterAgentCallbacks, func(agent.CallbackContext) (*genai.Content, error) {
		c.add(name + "'s AfterAgent")
		return nil, nil
	})
	cfg.BeforeModelCallbacks = append(cfg.BeforeModelCallbacks, func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
		c.add(name + "'s BeforeModel")
		return nil, nil
	})
	cfg.AfterModelCallbacks = append(cfg.AfterModelCallbacks, func(agent.CallbackContext, *model.LLMResponse, error) (*model.LLMResponse, error) {
		c.add(name + "'s AfterModel")
		return nil, nil
	})
	cfg.BeforeToolCallbacks = append(cfg.BeforeToolCallbacks, func(agent.ToolContext, tool.Tool, map[string]any) (map[string]any, error) {
		c.add(name + "'s BeforeTool")
		return nil, nil
	})
	cfg.AfterToolCallbacks = append(cfg.AfterToolCallbacks, func(agent.ToolContext, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
		c.add(name + "'s AfterTool")
		return nil, nil
	})
	cfg.OnToolErrorCallbacks = append(cfg.OnToolErrorCallbacks, func(agent.ToolContext, tool.Tool, map[string]any, error) (map[string]any, error) {
		c.add(name + "'s OnToolError")
		return nil, nil
	})
}

// No layer answers in place of others, so each callback of the app runs as often as without a stack.
func TestCallbacksOfTheAppRunAsOftenAsWithoutTheStack(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, _ shape, newApp func(func(*toolApp)) *toolApp) {
		counts := map[bool]map[string]int{}
		for _, bare := range []bool{true, false} {
			var c tally
			a := newApp(func(a *toolApp) {
				a.bare, a.window = bare, 1_000_000 // with less room a request may be rebuilt
				a.plugins = []*plugin.Plugin{c.plugin(t, "first"), c.plugin(t, "second")}
				a.more = c.agent
			})
			for _, w := range a.workers {
				w.reads, w.unknown = false, true
			}
			a.play(3)
			counts[bare] = c.n
		}
		if diff := cmp.Diff(counts[true], counts[false]); diff != "" {
			t.Errorf("callbacks (-without the stack +with it):\n%s", diff)
		}
		if len(counts[true]) < 14 {
			t.Errorf("only %v were called", slices.Sorted(maps.Keys(counts[true])))
		}
	})
}

// A layer that is turned off leaves no trace in a request.
func TestAStackWithoutItsLayersSendsWhatCompactionAloneSends(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, s shape, newApp func(func(*toolApp)) *toolApp) {
		requests := map[string][]string{}
		for name, disable := range map[string][]longsession.Layer{
			"compaction alone": nil,
			"no layers":        {longsession.LayerToolResults, longsession.LayerBudget},
			"only the budget":  {longsession.LayerToolResults}, // far from any threshold
		} {
			alone := name == "compaction alone"
			a := newApp(func(a *toolApp) {
				a.window = 1_000_000
				a.cfg.Disable, a.cfg.Recall.Disabled = disable, true
				a.cfg.Compaction.InvocationThreshold = 2
				if s.name == "parallel" { // what a summary covers depends on which agent is faster
					a.cfg.Compaction.InvocationThreshold = compaction.Off
				}
				if alone {
					a.bare = true
					a.above = a.compacting
				}
			})
			for _, w := range a.workers {
				w.reads = false
			}
			a.play(5)
			requests[name] = slices.Sorted(slices.Values(a.seen.requests)) // parallel agents send theirs in any order
		}
		for _, name := range []string{"no layers", "only the budget"} {
			if diff := cmp.Diff(requests["compaction alone"], requests[name]); diff != "" {
				t.Errorf("requests (-compaction alone +%s):\n%.2000s", name, diff)
			}
		}
	})
}

// The budget far from its thresholds leaves no trace either, with the layer of tool results at work.
func TestABudgetWithRoomChangesNoRequest(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, s shape, newApp func(func(*toolApp)) *toolApp) {
		requests := map[bool][]string{}
		for _, budgeted := range []bool{true, false} {
			a := newApp(func(a *toolApp) {
				a.window = 1_000_000
				a.cfg.Compaction.InvocationThreshold = compaction.Off
				a.cfg.Masking.From = toolresult.Off
				if !budgeted {
					a.cfg.Disable = []longsession.Layer{longsession.LayerBudget}
				}
			})
			a.play(4)
			requests[budgeted] = slices.Sorted(slices.Values(a.seen.requests))
		}
		if diff := cmp.Diff(requests[false], requests[true]); diff != "" {
			t.Errorf("requests (-without the budget +with it):\n%.2000s", diff)
		}
		if all := strings.Join(requests[true], ""); !strings.Contains(all, "ref_id") || !s.texts && !strings.Contains(all, "[result masked") {
			t.Error("nothing was cut or masked: the test shows too little")
		}
	})
}

// compacting wraps a service in compaction alone, with the configuration of the stack.
func (a *toolApp) compacting(inner session.Service) session.Service {
	a.t.Helper()
	cfg := a.cfg.Compaction
	cfg.ContextWindow = a.window
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = svc.Close(context.Background()) })
	return svc
}
