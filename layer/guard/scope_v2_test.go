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
