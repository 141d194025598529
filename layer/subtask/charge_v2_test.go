//go:build ignore

package subtask_test

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/workflow"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/tokens"
)

// Whatever agent of ADK v2 starts subtasks, its session pays for them to the nano-dollar: one that was given a task, one
// that runs for one turn, and one in a node of a workflow with a scope of its own.
func TestASubtaskIsChargedWhateverAgentStartsIt(t *testing.T) {
	t.Parallel()
	// below returns a coordinator that hands the work to the worker.
	below := func(t *testing.T, llm model.LLM, mode llmagent.Mode, worker llmagent.Config) agent.Agent {
		worker.Mode = mode
		w, err := llmagent.New(worker)
		must(t, err)
		root, err := llmagent.New(llmagent.Config{Name: "root", Model: llm, SubAgents: []agent.Agent{w}})
		must(t, err)
		return root
	}
	for name, build := range map[string]func(t *testing.T, llm model.LLM, worker llmagent.Config) agent.Agent{
		"a task": func(t *testing.T, llm model.LLM, w llmagent.Config) agent.Agent {
			return below(t, llm, llmagent.ModeTask, w)
		},
		"one turn": func(t *testing.T, llm model.LLM, w llmagent.Config) agent.Agent {
			return below(t, llm, llmagent.ModeSingleTurn, w)
		},
		"a node in a scope": func(t *testing.T, _ model.LLM, w llmagent.Config) agent.Agent {
			w.Mode = llmagent.ModeSingleTurn
			worker, err := llmagent.New(w)
			must(t, err)
			node, err := workflow.NewAgentNode(worker, workflow.NodeConfig{})
			must(t, err)
			outer := workflow.NewDynamicNode("outer", func(ctx agent.Context, in any, _ func(*session.Event) error) (any, error) {
				return workflow.RunNode[any](ctx, node, in, workflow.WithIsolationScope("scope"), workflow.WithUseSubBranch())
			}, workflow.NodeConfig{})
			root, err := workflowagent.New(workflowagent.Config{Name: "flow", Edges: []workflow.Edge{{From: workflow.Start, To: outer}}})
			must(t, err)
			return root
		},
	} {
		for _, store := range storages.All(t) {
			t.Run(name+"/"+store.Name, func(t *testing.T) {
				t.Parallel()
				g := newGuard(t, guard.Config{})
				child := newLLM(small, func(_ int, req *model.LLMRequest) *model.LLMResponse {
					if len(req.Contents) < 5 {
						return call("look", map[string]any{"ask": "x"})
					}
					return say("found it")
				})
				svc := store.Open(t)
				a := &asker{r: newRunner(t, svc, child, func(cfg *subtask.Config) { cfg.Guard = g }), spec: subtask.Spec{Message: "?", Tools: looks(t)}}
				rootLLM := says(large, call("worker", map[string]any{"request": "do it"}), say("done"))
				steps := []*model.LLMResponse{call("delegate", map[string]any{"ask": "a"}, map[string]any{"ask": "b"}), say("done")}
				if name == "a task" {
					steps[1] = call("finish_task", map[string]any{"result": "done"})
				}
				workerLLM := says(large, steps...)
				root := build(t, g.Model(rootLLM), llmagent.Config{Name: "worker", Description: "Works.", Model: g.Model(workerLLM), Tools: []tool.Tool{a.tool(t)}})
				p := &parent{t: t, svc: svc, plugins: []*plugin.Plugin{g.Plugin()}}
				_, err := p.run(t.Context(), root, genai.NewContentFromText("go", genai.RoleUser))
				must(t, err)

				var cost tokens.Nano
				for i, got := range a.results {
					must(t, a.errs[i])
					cost += got.USD
				}
				cheap, _ := tokens.Lookup(small)
				dear, _ := tokens.Lookup(large)
				if len(a.results) != 2 || cost == 0 || cost != cheap.Nanos(child.used()) {
					t.Fatalf("%d subtasks for %s, want 2 for %s", len(a.results), cost, cheap.Nanos(child.used()))
				}
				own := dear.Nanos(rootLLM.used().Add(workerLLM.used()))
				inMemory, err := g.Usage(t.Context(), svc, mainRef)
				must(t, err)
				stored, ok := guard.Stored(p.get("main"))
				if !ok {
					t.Fatal("nothing is stored")
				}
				for what, u := range map[string]guard.Usage{"guard": inMemory, "stored": stored} {
					if s := u.Subtasks; s.Count != 2 || s.ModelCalls != len(child.seen()) || s.USD != cost || u.USD != cost+own {
						t.Errorf("%s: %s in all, the subtasks are %+v; want %s, and 2 with %d calls for %s", what, u.USD, s, cost+own, len(child.seen()), cost)
					}
				}
			})
		}
	}
}
