package budget

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/internal/wrapper"
)

type answers = []func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error]

// rebuilding makes agents whose every request is built twice and compared.
type rebuilding struct {
	t     *testing.T
	meter *Meter
	// compared counts requests.
	compared atomic.Int64
}

// agent returns an agent whose model plays a plan.
func (r *rebuilding) agent(name string, plan answers, change func(*llmagent.Config)) agent.Agent {
	r.t.Helper()
	inner := &script{t: r.t, name: "model-of-" + name, plan: plan}
	w := &metered{meter: r.meter, inner: inner}
	inner.inspect = func(ctx context.Context, req *model.LLMRequest, _ bool) {
		again := w.rebuild(ctx.(agent.InvocationContext))
		if again == nil {
			r.t.Errorf("%s: no request was built", name)
			return
		}
		if before, after := photograph(r.t, req), photograph(r.t, again); before != after {
			r.t.Errorf("%s: the request is\n%s\nand built again\n%s", name, before, after)
		}
		r.compared.Add(1)
	}
	cfg := llmagent.Config{Name: name, Description: "Plays " + name + ".", Instruction: "Be " + name + ".", Model: wrapper.New(inner, r.meter, "budget", w.generate), Tools: []tool.Tool{lookup(r.t, 20, nil)}}
	if change != nil {
		change(&cfg)
	}
	return newAgent(r.t, cfg)
}

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// shapes are the ways in which agents are put together.
var shapes = []struct {
	name     string
	requests int // that one turn has at least
	root     func(r *rebuilding) agent.Agent
}{
	{"single", 3, func(r *rebuilding) agent.Agent {
		return r.agent("single", answers{looksUp(1), looksUp(1), says("done")}, nil)
	}},
	{"parallel tools", 2, func(r *rebuilding) agent.Agent {
		return r.agent("single", answers{looksUp(3), says("done")}, nil)
	}},
	{"only the current turn", 2, func(r *rebuilding) agent.Agent {
		return r.agent("forgetful", answers{looksUp(1), says("done")}, func(cfg *llmagent.Config) { cfg.IncludeContents = llmagent.IncludeContentsNone })
	}},
	{"with an instruction provider", 2, func(r *rebuilding) agent.Agent {
		return r.agent("provided", answers{looksUp(1), says("done")}, func(cfg *llmagent.Config) {
			cfg.Instruction = ""
			cfg.InstructionProvider = func(ctx agent.ReadonlyContext) (string, error) { return "Be in " + ctx.SessionID(), nil }
		})
	}},
	{"transfer", 4, func(r *rebuilding) agent.Agent {
		worker := r.agent("worker", answers{looksUp(1), says("done")}, nil)
		return r.agent("root", answers{looksUp(1), callsTool("transfer_to_agent", map[string]any{"agent_name": "worker"})}, func(cfg *llmagent.Config) {
			cfg.SubAgents = []agent.Agent{worker}
		})
	}},
	{"sequential", 4, func(r *rebuilding) agent.Agent {
		return must(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{
			r.agent("first", answers{looksUp(1), says("done")}, nil), r.agent("second", answers{looksUp(1), says("done")}, nil),
		}}}))
	}},
	{"parallel", 4, func(r *rebuilding) agent.Agent {
		return must(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{
			r.agent("left", answers{looksUp(1), says("done")}, nil), r.agent("right", answers{looksUp(1), says("done")}, nil),
		}}}))
	}},
	{"loop", 4, func(r *rebuilding) agent.Agent {
		return must(loopagent.New(loopagent.Config{MaxIterations: 2, AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{
			r.agent("worker", answers{looksUp(1), says("more"), looksUp(1), says("done")}, nil),
		}}}))
	}},
	{"agent as a tool", 4, func(r *rebuilding) agent.Agent {
		expert := r.agent("expert", answers{looksUp(1), says("done")}, nil)
		return r.agent("root", answers{callsTool("expert", map[string]any{"request": "help"}), says("done")}, func(cfg *llmagent.Config) {
			cfg.Tools = append(cfg.Tools, agenttool.New(expert, nil))
		})
	}},
}

func TestARequestThatIsBuiltAgainIsTheSame(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes {
		for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
			t.Run(fmt.Sprintf("%s %s", shape.name, mode), func(t *testing.T) {
				t.Parallel()
				r := &rebuilding{t: t, meter: newMeter(t, Config{})}
				c := newChat(t, session.InMemoryService(), shape.root(r))
				c.mode = mode
				events := len(c.mustAsk("first question"))
				if n := int(r.compared.Load()); n < shape.requests {
					t.Errorf("%d requests were compared, want %d", n, shape.requests)
				}
				c.mustAsk("second question")
				resp, err := c.svc.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
				if err != nil {
					t.Fatal(err)
				}
				if n := resp.Session.Events().Len(); n <= events {
					t.Errorf("%d events are stored", n)
				}
			})
		}
	}
}
