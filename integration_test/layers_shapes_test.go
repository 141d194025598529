package integration_test

import (
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// shape is a way in which agents work together.
type shape struct {
	name   string
	build  func(a *toolApp) agent.Agent
	change func(a *toolApp)
	// texts is true if an agent sees so many results of another one, as text, that there is no need to mask.
	texts bool
}

func (a *toolApp) made(made agent.Agent, err error) agent.Agent {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// calls makes a worker begin each run with a call of a tool.
func calls(name string, args map[string]any) func() *model.LLMResponse {
	return func() *model.LLMResponse { return compactiontest.CallTool(name, args) }
}

func single(a *toolApp) agent.Agent { return a.agent("assistant", nil) }

var shapes = []shape{
	{name: "single", build: single},
	{name: "streaming", build: single, change: func(a *toolApp) { a.stream = agent.StreamingModeSSE }},
	{name: "parallel tools", build: func(a *toolApp) agent.Agent {
		return a.agent("assistant", func(_ *llmagent.Config, w *worker) { w.wide = 3 })
	}},
	{name: "transfer", build: func(a *toolApp) agent.Agent {
		return a.agent("root", func(cfg *llmagent.Config, w *worker) {
			w.begin = calls("transfer_to_agent", map[string]any{"agent_name": "helper"})
			cfg.SubAgents = []agent.Agent{a.agent("helper", func(cfg *llmagent.Config, _ *worker) { cfg.DisallowTransferToParent = true })}
		})
	}},
	{name: "sequential", texts: true, build: func(a *toolApp) agent.Agent {
		return a.made(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{a.agent("one", nil), a.agent("two", nil)}}}))
	}},
	{name: "parallel", build: func(a *toolApp) agent.Agent {
		return a.made(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: []agent.Agent{a.agent("one", nil), a.agent("two", nil)}}}))
	}},
	{name: "loop", change: func(a *toolApp) { a.loose = true }, build: func(a *toolApp) agent.Agent {
		return a.made(loopagent.New(loopagent.Config{MaxIterations: 2, AgentConfig: agent.Config{Name: "again", SubAgents: []agent.Agent{a.agent("one", nil)}}}))
	}},
	{name: "an agent as a tool", build: func(a *toolApp) agent.Agent {
		return a.agent("assistant", func(cfg *llmagent.Config, w *worker) {
			w.begin = calls("expert", map[string]any{"request": "Look into it."})
			cfg.Tools = append(cfg.Tools, agenttool.New(a.agent("expert", func(_ *llmagent.Config, w *worker) { w.foreign = true }), nil))
		})
	}},
}

// eachShape runs f with an app of each shape.
func eachShape(t *testing.T, store func(*testing.T) storages.Storage, f func(t *testing.T, s shape, newApp func(change func(*toolApp)) *toolApp)) {
	t.Helper()
	for _, s := range share(t, 2, shapes) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f(t, s, func(change func(*toolApp)) *toolApp {
				return newToolApp(t, store(t), s.build, func(a *toolApp) {
					if s.change != nil {
						s.change(a)
					}
					if change != nil {
						change(a)
					}
				})
			})
		})
	}
}

func inMemory(*testing.T) storages.Storage { return storages.InMemory() }

// With a window that the tools alone would fill within a turn, every request of every shape is one that a
// strict provider accepts, and each byte of each result can be read back, also by a new process.
func TestEveryShapeFitsItsRequestsAndLosesNoResult(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, s shape, newApp func(func(*toolApp)) *toolApp) {
		turns := 4
		if testkit.Whole() {
			turns = 6
		}
		a := newApp(nil)
		a.play(turns)
		a.reopen()
		a.play(turns)
		a.checkWorked(s.texts)
	})
}

// checkWorked checks that each layer had something to do, and reads every result back.
func (a *toolApp) checkWorked(texts bool) {
	a.t.Helper()
	masked := texts
	for _, request := range a.seen.requests {
		masked = masked || strings.Contains(request, "[result masked")
	}
	done := 0
	for _, w := range a.workers {
		done += w.done
	}
	if a.summaries() == 0 || !masked || done == 0 {
		a.t.Errorf("%d summaries, results masked: %v, %d results read at once: the test shows too little", a.summaries(), masked, done)
	}
	if n := a.readAll(); n < 10 {
		a.t.Errorf("only %d results were shortened", n)
	}
	if log := a.stack.TruncateLog(); len(log) == 0 {
		a.t.Error("no cut is in the log")
	}
}
