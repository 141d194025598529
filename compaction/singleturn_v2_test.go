//go:build ignore

package compaction_test

import (
	"context"
	"iter"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/workflow"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// visited is a model that says in which session it is called.
type visited func(session.Session)

func (visited) Name() string { return "visited" }

func (see visited) GenerateContent(ctx context.Context, _ *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	see(adk.Invocation(ctx).Session())
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: genai.NewContentFromText("Done.", genai.RoleModel)}, nil)
	}
}

// TestAnAgentForOneTurnIsInOurSession: ADK gives it its task by a session around ours. That of another service is not
// ours, though its ID is the same.
func TestAnAgentForOneTurnIsInOurSession(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	cfg, _ := oracleConfig()
	ours, others := newService(t, inner, cfg), newService(t, inner, cfg)
	calls := 0
	worker, err := llmagent.New(llmagent.Config{Name: "worker", Model: visited(func(sess session.Session) {
		if calls++; sess.Events().Len() == get(t, ours).Events().Len() {
			t.Error("the session has no event with the task: ADK has put nothing around it")
		}
		if !ours.Owns(sess) {
			t.Error("the session is not known for ours")
		}
		if others.Owns(sess) {
			t.Error("the session is taken for that of another service")
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	node, err := workflow.NewAgentNode(worker, workflow.NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	flow, err := workflowagent.New(workflowagent.Config{Name: "flow", Edges: []workflow.Edge{{From: workflow.Start, To: node}}})
	if err != nil {
		t.Fatal(err)
	}
	sess := create(t, ours)
	r, err := runner.New(runner.Config{AppName: sess.AppName(), Agent: flow, SessionService: ours})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), sess.UserID(), sess.ID(), genai.NewContentFromText("Go.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if calls != 1 {
		t.Errorf("%d model calls, want 1", calls)
	}
}
