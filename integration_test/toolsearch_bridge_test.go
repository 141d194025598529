package integration_test

import (
	"slices"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

func oneSearcher(a *searchApp) agent.Agent { return a.agent("assistant", nil) }

func (a *searchApp) made(made agent.Agent, err error) agent.Agent {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// searchShapes are the ways in which agents with many tools work together.
var searchShapes = []struct {
	name   string
	build  func(*searchApp) agent.Agent
	change func(*searchApp)
}{
	{name: "single", build: oneSearcher},
	{name: "streaming", build: oneSearcher, change: func(a *searchApp) { a.stream = agent.StreamingModeSSE }},
	{name: "transfer", build: func(a *searchApp) agent.Agent {
		return a.agent("root", func(cfg *llmagent.Config, m *searcher) {
			m.runs = []script{{says(through("transfer_to_agent", map[string]any{"agent_name": "helper"}))}}
			cfg.SubAgents = []agent.Agent{a.agent("helper", func(cfg *llmagent.Config, _ *searcher) { cfg.DisallowTransferToParent = true })}
		})
	}},
	{name: "sequential", build: func(a *searchApp) agent.Agent {
		return a.made(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{a.agent("one", nil), a.agent("two", nil)}}}))
	}},
	{name: "parallel", build: func(a *searchApp) agent.Agent {
		return a.made(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: []agent.Agent{a.agent("one", nil), a.agent("two", nil)}}}))
	}},
	{name: "loop", change: func(a *searchApp) { a.loose = true }, build: func(a *searchApp) agent.Agent {
		return a.made(loopagent.New(loopagent.Config{MaxIterations: 2, AgentConfig: agent.Config{Name: "again", SubAgents: []agent.Agent{a.agent("one", nil)}}}))
	}},
	{name: "an agent as a tool", build: func(a *searchApp) agent.Agent {
		return a.agent("assistant", func(cfg *llmagent.Config, m *searcher) {
			m.begin = says(direct("expert", map[string]any{"request": "Look into it."}))
			cfg.Tools = append(cfg.Tools, agenttool.New(a.agent("expert", func(_ *llmagent.Config, m *searcher) { m.fresh = true }), nil))
		})
	}},
}

// Storage, callbacks and plugins have the real calls; the model never sees a call of a tool that it was not
// told of; each request extends the one before byte for byte, also in a new process.
func TestCallsThroughToolCallAreRealCallsEverywhereButInRequests(t *testing.T) {
	t.Parallel()
	for _, s := range share(t, 2, searchShapes) {
		for _, store := range []func(*testing.T) storages.Storage{inMemory, func(t *testing.T) storages.Storage { return storages.Persistence(t) }} {
			store := store(t)
			t.Run(s.name+" over "+store.Name, func(t *testing.T) {
				t.Parallel()
				a := newSearchApp(t, store, s.build, s.change)
				a.play(5)
				a.open()
				a.play(5)
				a.checkCalls()
			})
		}
	}
}

// The same, with every other layer around the deferral and between its halves.
func TestCallsThroughToolCallAreRealCallsInAWholeStack(t *testing.T) {
	t.Parallel()
	for _, s := range share(t, 2, searchShapes) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			a := newSearchApp(t, storages.Persistence(t), s.build, func(a *searchApp) {
				a.whole = true
				if s.change != nil {
					s.change(a)
				}
			})
			a.play(5)
			a.open()
			a.play(5)
			a.checkCalls()
		})
	}
}

// checkCalls checks what storage, callbacks and models have seen after some runs of everyKindOfCall.
func (a *searchApp) checkCalls() {
	a.t.Helper()
	names := a.stored()
	for _, name := range []string{"tool_search", "svc_03", "svc_04", "svc_05", "svc_07", "svc_08", "note", "svc_98"} {
		if names[name] == 0 {
			a.t.Errorf("no call of %s is stored: %v", name, names)
		}
		if name == "svc_98" {
			continue // does not exist
		}
		for where, list := range map[string][]string{"BeforeTool": a.seen.before, "AfterTool": a.seen.after, "a plugin's BeforeTool": a.seen.plugged} {
			if !slices.Contains(list, name) {
				a.t.Errorf("%s has not seen %s: %q", where, name, list)
			}
		}
	}
	// One wrong call of svc_05, one of svc_99 and one of tool_search are left in each such run.
	if n := names["tool_call"]; n == 0 || n%3 != 0 || n > names["svc_05"]*3/2 {
		a.t.Errorf("%d calls of tool_call are stored, of %v", n, names)
	}
	if names["svc_99"] > 0 {
		a.t.Error("a call of a tool that does not exist has become a real one")
	}
	for name, want := range map[string][]int{"svc_03": {6}, "svc_04": {8}, "svc_05": {9, 12}, "svc_07": {1, 3}, "svc_08": {4}, "note": {2, 5, 7}} {
		got := slices.Compact(slices.Sorted(slices.Values(a.seen.ran[name])))
		if !slices.Equal(got, want) {
			a.t.Errorf("%s ran with %v, want %v", name, got, want)
		}
	}
	for name, m := range a.models {
		if m.configs != 1 || m.requests < 5 && name != "root" {
			a.t.Errorf("%s: %d requests with %d configs", name, m.requests, m.configs)
		}
	}
}

// A call that ADK stores keeps its ID and signature, and its request has them again.
func TestATranslatedCallKeepsItsSignature(t *testing.T) {
	t.Parallel()
	a := newSearchApp(t, storages.InMemory(), oneSearcher, nil)
	a.play(1)
	resp, err := a.inner.Get(t.Context(), getRequest())
	if err != nil {
		t.Fatal(err)
	}
	signatures := 0
	for _, ev := range eventsOf(resp.Session) {
		if ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			if part.FunctionCall != nil && string(part.ThoughtSignature) == "signature" {
				signatures++
			}
		}
	}
	if signatures != 2 {
		t.Errorf("%d calls are stored with their signature, want 2", signatures)
	}
}
