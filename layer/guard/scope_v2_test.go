//go:build ignore

package guard_test

import (
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/workflow"

	"github.com/adk-go-ext/longsession/layer/guard"
)

// TestOneAgentInTwoScopesAtOnceIsChargedForBoth: both run in one branch, and each has a call in flight when the other
// begins its own.
func TestOneAgentInTwoScopesAtOnceIsChargedForBoth(t *testing.T) {
	t.Parallel()
	scopes := []string{"one", "two"}
	var both sync.WaitGroup
	both.Add(len(scopes))
	llm := newWorker()
	llm.answer = func(int, *model.LLMRequest) *genai.Content {
		both.Done()
		both.Wait()
		return said("done")
	}
	d := newDesk(t, guard.Config{}, llm)
	clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Model: llm, Mode: llmagent.ModeSingleTurn})
	if err != nil {
		t.Fatal(err)
	}
	node, err := workflow.NewAgentNode(clerk, workflow.NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	gives := workflow.NewDynamicNode("gives", func(ctx agent.Context, in any, _ func(*session.Event) error) (any, error) {
		var done sync.WaitGroup
		for _, scope := range scopes {
			done.Go(func() {
				if _, err := workflow.RunNode[any](ctx, node, in, workflow.WithRunID(scope), workflow.WithIsolationScope(scope)); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		return "done", nil
	}, workflow.NodeConfig{})
	flow, err := workflowagent.New(workflowagent.Config{Name: "flow", Edges: []workflow.Edge{{From: workflow.Start, To: gives}}})
	if err != nil {
		t.Fatal(err)
	}
	d.serve(flow)
	if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) > 0 {
		t.Fatal(errs)
	}
	if u := d.used(); u.ModelCalls != 2 || u.USD != 2*callCost {
		t.Errorf("%d calls for %v, want 2 for %v", u.ModelCalls, u.USD, 2*callCost)
	}
	if d.observed(guard.Charged) != 2 {
		t.Errorf("%d charges were observed", d.observed(guard.Charged))
	}
}

// TestAnAgentThatRunsAsAToolOfAWorkerIsCharged: what a worker does is in no event, see runWrappedOnce in
// workflow/parallel_worker.go, so in the first turn no event has stored whose session pays.
func TestAnAgentThatRunsAsAToolOfAWorkerIsCharged(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = func(n int, _ *model.LLMRequest) *genai.Content {
		if n%3 == 0 {
			return asks("inner", map[string]any{"request": "Look."})
		}
		return said("done")
	}
	d := newDesk(t, guard.Config{}, llm)
	wrapped := d.guard.Model(llm)
	clerk, err := workflow.NewAgentNode(leaf(t, d, "clerk", wrapped, nil, agenttool.New(leaf(t, d, "inner", wrapped, nil), nil)), workflow.NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	many, err := workflow.NewParallelWorker("many", clerk, 1, workflow.NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	list := workflow.NewFunctionNode("list", func(agent.Context, any) ([]any, error) { return []any{"a", "b"}, nil }, workflow.NodeConfig{})
	flow, err := workflowagent.New(workflowagent.Config{Name: "flow", Edges: []workflow.Edge{{From: workflow.Start, To: list}, {From: list, To: many}}})
	if err != nil {
		t.Fatal(err)
	}
	d.serve(flow)
	for turn := range 2 {
		if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) > 0 {
			t.Fatal(errs)
		}
		if u := d.used(); u.ModelCalls != llm.calls() || llm.calls() != 6*(turn+1) {
			t.Errorf("turn %d: %d of %d calls are charged", turn, u.ModelCalls, llm.calls())
		}
	}
}
