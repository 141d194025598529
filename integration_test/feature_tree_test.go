package integration_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/exitlooptool"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// Sequential, loop and parallel agents, nested in one another, all with tools.
func TestWorkflowsLoseNothing(t *testing.T) {
	t.Parallel()
	playAll(t, []feature{
		{name: "sequence", branches: []string{""}, prepare: func(a *app) play {
			first, second := newActor(a, "researcher", ""), newActor(a, "writer", "")
			return play{root: a.sequence("pipeline", a.withLookup(first), a.withLookup(second)), turn: func(i int) {
				first.will(a.lookups(1+i%2), a.lookups(1), answer())
				second.will(a.lookups(1), answer())
				a.ask()
			}}
		}},
		{name: "loop that an agent ends", branches: []string{""}, prepare: func(a *app) play {
			worker, critic := newActor(a, "worker", ""), newActor(a, "critic", "")
			return play{root: a.looping("loop", 0, a.withLookup(worker), a.withExit(critic)), turn: func(i int) {
				for round := range 1 + i%3 {
					worker.will(a.lookups(1+round), answer())
					if round < i%3 {
						critic.will(answer())
					}
				}
				critic.will(exitLoop())
				a.ask()
			}}
		}},
		{name: "loop that ends at its limit", branches: []string{""}, prepare: func(a *app) play {
			worker := newActor(a, "worker", "")
			return play{root: a.looping("loop", 3, a.withLookup(worker)), turn: func(i int) {
				for range 3 {
					worker.will(a.lookups(1+i%2), answer())
				}
				a.ask()
			}}
		}},
		{name: "long loop", branches: []string{""}, prepare: func(a *app) play {
			worker, critic := newActor(a, "worker", ""), newActor(a, "critic", "")
			return play{root: a.looping("loop", 0, a.withLookup(worker), a.withExit(critic)), turn: func(i int) {
				rounds := 1
				if i%8 == 3 {
					rounds = 15
				}
				for range rounds - 1 {
					worker.will(a.lookups(1), answer())
					critic.will(answer())
				}
				worker.will(a.lookups(1), answer())
				critic.will(exitLoop())
				a.ask()
			}}
		}},
		{name: "parallel with tools in both branches", unordered: true, branches: []string{"", "both.left", "both.right"}, prepare: func(a *app) play {
			left, right := newActor(a, "left", "both.left"), newActor(a, "right", "both.right")
			return play{root: a.parallel("both", a.withLookup(left), a.withLookup(right)), turn: func(i int) {
				left.will(a.lookups(1+i%2), a.lookups(1), answer())
				right.will(a.lookups(2), answer())
				a.ask()
			}}
		}},
		{name: "parallel in sequence in loop", unordered: true, branches: []string{"", "both.left", "both.right"}, prepare: func(a *app) play {
			left, right, judge := newActor(a, "left", "both.left"), newActor(a, "right", "both.right"), newActor(a, "judge", "")
			both := a.parallel("both", a.withLookup(left), a.withLookup(right))
			return play{root: a.looping("loop", 0, a.sequence("round", both, a.withExit(judge))), turn: func(i int) {
				for round := range 1 + i%2 {
					left.will(a.lookups(1), answer())
					right.will(a.lookups(1), a.lookups(1), answer())
					if round < i%2 {
						judge.will(answer())
					}
				}
				judge.will(exitLoop())
				a.ask()
			}}
		}},
		{name: "sequence in a parallel branch", unordered: true, branches: []string{"", "both.chain", "both.right"}, prepare: func(a *app) play {
			one, two, right := newActor(a, "one", "both.chain"), newActor(a, "two", "both.chain"), newActor(a, "right", "both.right")
			chain := a.sequence("chain", a.withLookup(one), a.withLookup(two))
			return play{root: a.parallel("both", chain, a.withLookup(right)), turn: func(i int) {
				one.will(a.lookups(1), answer())
				two.will(a.lookups(1+i%2), answer())
				right.will(a.lookups(1), answer())
				a.ask()
			}}
		}},
		{name: "parallel in a parallel branch", unordered: true, branches: []string{"", "outer.inner.inner.x", "outer.inner.inner.y", "outer.z"}, prepare: func(a *app) play {
			x, y, z := newActor(a, "x", "outer.inner.inner.x"), newActor(a, "y", "outer.inner.inner.y"), newActor(a, "z", "outer.z")
			inner := a.parallel("inner", a.withLookup(x), a.withLookup(y))
			return play{root: a.parallel("outer", inner, a.withLookup(z)), turn: func(int) {
				for _, actor := range []*actor{x, y, z} {
					actor.will(a.lookups(1), answer())
				}
				a.ask()
			}}
		}},
	})
}

// withLookup returns an agent with a tool.
func (a *app) withLookup(x *actor) agent.Agent {
	return a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} })
}

// withExit returns an agent that can end its loop.
func (a *app) withExit(x *actor) agent.Agent {
	a.t.Helper()
	exit, err := exitlooptool.New()
	if err != nil {
		a.t.Fatal(err)
	}
	return a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{exit} })
}

// exitLoop is a response that ends the loop. Its agent says nothing after it in this turn.
func exitLoop() *model.LLMResponse { return compactiontest.CallTool("exit_loop", map[string]any{}) }

func (a *app) sequence(name string, agents ...agent.Agent) agent.Agent {
	a.t.Helper()
	return a.made(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: name, SubAgents: agents}}))
}

func (a *app) parallel(name string, agents ...agent.Agent) agent.Agent {
	a.t.Helper()
	return a.made(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: name, SubAgents: agents}}))
}

func (a *app) looping(name string, most uint, agents ...agent.Agent) agent.Agent {
	a.t.Helper()
	return a.made(loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: name, SubAgents: agents}, MaxIterations: most}))
}

func (a *app) made(ag agent.Agent, err error) agent.Agent {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	return ag
}
