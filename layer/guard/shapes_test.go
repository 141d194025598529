package guard_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/layer/guard"
)

// leaf makes an agent with the tool work and more.
func leaf(t testing.TB, d *desk, name string, llm model.LLM, sub []agent.Agent, more ...tool.Tool) agent.Agent {
	t.Helper()
	a, err := llmagent.New(llmagent.Config{Name: name, Description: "Does " + name + ".", Model: llm, SubAgents: sub, Tools: append(more, work(t, d.ran))})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func made(t testing.TB) func(a agent.Agent, err error) agent.Agent {
	return func(a agent.Agent, err error) agent.Agent {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// shapes are trees of agents that never stop by themselves.
var shapes = map[string]func(t testing.TB, d *desk, llm model.LLM) agent.Agent{
	"single": func(t testing.TB, d *desk, llm model.LLM) agent.Agent { return leaf(t, d, "one", llm, nil) },
	"transfer": func(t testing.TB, d *desk, llm model.LLM) agent.Agent {
		d.llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
			if _, can := req.Tools["transfer_to_agent"]; can && n == 0 {
				return asks("transfer_to_agent", map[string]any{"agent_name": "two"})
			}
			return asks("work", map[string]any{"n": n})
		}
		return leaf(t, d, "one", llm, []agent.Agent{leaf(t, d, "two", llm, nil)})
	},
	"sequential": func(t testing.TB, d *desk, llm model.LLM) agent.Agent {
		d.llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
			if n == 1 {
				return said("first is done")
			}
			return asks("work", map[string]any{"n": n})
		}
		return made(t)(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{leaf(t, d, "one", llm, nil), leaf(t, d, "two", llm, nil)}}}))
	},
	"parallel": func(t testing.TB, d *desk, llm model.LLM) agent.Agent {
		d.llm.delay = 2 * time.Millisecond
		var agents []agent.Agent
		for i := range 8 {
			agents = append(agents, leaf(t, d, fmt.Sprint("p", i), llm, nil))
		}
		return made(t)(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: agents}}))
	},
	"loop": func(t testing.TB, d *desk, llm model.LLM) agent.Agent {
		d.llm.answer = func(n int, req *model.LLMRequest) *genai.Content { return said("again") }
		return made(t)(loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{leaf(t, d, "one", llm, nil)}}}))
	},
	"nested loop": func(t testing.TB, d *desk, llm model.LLM) agent.Agent {
		d.llm.answer = func(n int, req *model.LLMRequest) *genai.Content { return said("again") }
		seq := made(t)(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{leaf(t, d, "one", llm, nil), leaf(t, d, "two", llm, nil)}}}))
		return made(t)(loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{seq}}}))
	},
	"agent tool": func(t testing.TB, d *desk, llm model.LLM) agent.Agent {
		d.llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
			if _, outer := req.Tools["middle"]; outer {
				return asks("middle", map[string]any{"request": "go"})
			}
			if _, outer := req.Tools["inner"]; outer && n%2 == 1 {
				return asks("inner", map[string]any{"request": "go"})
			}
			return asks("work", map[string]any{"n": n})
		}
		inner := leaf(t, d, "inner", llm, nil)
		middle := leaf(t, d, "middle", llm, nil, agenttool.New(inner, nil))
		return leaf(t, d, "outer", llm, nil, agenttool.New(middle, nil))
	},
}

func TestNoCallStartsAboveABoundInAnyShape(t *testing.T) {
	t.Parallel()
	limits := map[string]guard.Limits{"calls": {ModelCalls: 10}, "usd": {USD: 10 * callCost}, "tokens": {Tokens: 10 * 550}}
	for shape, build := range shapes {
		for mode, streaming := range modes {
			for kind, limit := range limits {
				for _, landing := range []guard.LandingMode{guard.LandingHard, guard.LandingSoft} {
					for _, wrapped := range []bool{true, false} {
						if shape == "agent tool" && !wrapped {
							continue // no plugin sees those calls
						}
						name := fmt.Sprintf("%s/%s/%s/%s/wrapped=%v", shape, mode, kind, landing, wrapped)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							d := newDesk(t, guard.Config{Turn: limit, Landing: landing}, newWorker())
							llm := model.LLM(d.llm)
							if wrapped {
								llm = d.guard.Model(llm)
							}
							d.serve(build(t, d, llm))
							_, errs := d.say("hi", streaming, 50)
							if d.llm.calls() != 10 {
								t.Errorf("%d calls of the model, not 10", d.llm.calls())
							}
							if u := d.used(); u.ModelCalls != 10 || u.USD != 10*callCost || u.Turn.ModelCalls != 10 || len(u.Models) != 1 || u.Models[0].USD != u.USD {
								t.Errorf("usage %+v", u)
							}
							if len(errs) > 40 {
								t.Errorf("the run went on through %d errors", len(errs))
							}
							if landing == guard.LandingHard && len(errs) == 0 {
								t.Error("no error")
							}
							for _, err := range errs {
								var stop *guard.StopError
								if !errors.As(err, &stop) || stop.Scope != guard.ScopeTurn {
									t.Errorf("error %v", err)
								}
							}
							if d.observed(guard.Unmetered) != 0 || d.observed(guard.Conflict) != 0 {
								t.Errorf("observed %+v", d.seen)
							}
							d.checkPairs()
							if again := len(d.llm.requests); kind == "usd" {
								if _, errs := d.say("again", streaming, 0); len(errs) != 1 || len(d.llm.requests) != again {
									t.Errorf("the next run: %v, %d calls more", errs, len(d.llm.requests)-again)
								}
							}
						})
					}
				}
			}
		}
	}
}
