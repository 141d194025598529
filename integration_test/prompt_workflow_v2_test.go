//go:build ignore

package integration_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/workflow"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/prompt"
)

// looker is an agent that calls a tool, and answers when it has a result.
func (a *promptApp) looker(name string) agent.Agent {
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks."}, func(agent.ToolContext, lookupArgs) (map[string]any, error) {
		return map[string]any{"found": "a file"}, nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.agent(name, func(req *model.LLMRequest) *model.LLMResponse {
		if req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse != nil {
			return compactiontest.Say("Done.")
		}
		return compactiontest.CallTool("look", map[string]any{"n": 1})
	}, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{look} })
}

// asking is a node that asks once, and runs again with the answer. It keeps its inputs.
func asking(inputs *[]string) workflow.Node {
	rerun := true
	return workflow.NewEmittingFunctionNode("first", func(ctx agent.Context, in any, emit func(*session.Event) error) (any, error) {
		*inputs = append(*inputs, asJSON(in))
		_, err := workflow.ResumeOrRequestInput(ctx, emit, session.RequestInput{InterruptID: "q", Message: "Sure?"})
		return in, err
	}, workflow.NodeConfig{RerunOnResume: &rerun})
}

// TestNotesAreInNoInputOfAWorkflow: its first node gets the text of the user's message alone, as without the builder, also
// when it runs again. The agents in it have the notes in their tool results, each in its own.
func TestNotesAreInNoInputOfAWorkflow(t *testing.T) {
	t.Parallel()
	var inputs []string
	inFlow := func(a *promptApp) agent.Agent {
		edges := []workflow.Edge{}
		from := workflow.Start
		next := func(node workflow.Node, err error) {
			if err != nil {
				t.Fatal(err)
			}
			edges, from = append(edges, workflow.Edge{From: from, To: node}), node
		}
		next(asking(&inputs), nil)
		next(workflow.NewAgentNode(a.looker("one"), workflow.NodeConfig{}))
		next(workflow.NewAgentNode(a.looker("two"), workflow.NodeConfig{}))
		return made(t)(workflowagent.New(workflowagent.Config{Name: "flow", Edges: edges}))
	}
	type around struct{ agent.Agent }
	for name, build := range map[string]func(*promptApp) agent.Agent{
		"root": inFlow, "in the app's own type": func(a *promptApp) agent.Agent { return around{inFlow(a)} },
	} {
		inputs = nil
		a := newPromptApp(t, prompt.Config{Status: prompt.Text("The build is green.")}, build, nil)
		a.say(genai.NewContentFromText("order 7", genai.RoleUser))
		a.say(genai.NewContentFromFunctionResponse(workflow.WorkflowInputFunctionCallName, map[string]any{"response": "yes"}, genai.RoleUser), "q")
		if want := []string{`"order 7"`, `"order 7"`}; !slices.Equal(inputs, want) {
			t.Errorf("%s: the first node's inputs are %q, want %q", name, inputs, want)
		}
		told := map[string]bool{}
		for _, sent := range a.sent {
			told[sent.agent] = told[sent.agent] || strings.Contains(strings.Join(sent.pieces, "\n"), "[Status, from the app and not from this tool:\\nThe build is green.")
		}
		if !told["one"] || !told["two"] {
			t.Errorf("%s: the agents that were told the status: %v", name, told)
		}
	}
}

// TestAMessageForAnAppWithAWorkflowHasNoNotes: an agent may hand the message over to a workflow beside it or below.
func TestAMessageForAnAppWithAWorkflowHasNoNotes(t *testing.T) {
	t.Parallel()
	var inputs []string
	first := workflow.NewFunctionNode("first", func(_ agent.Context, in any) (any, error) {
		inputs = append(inputs, asJSON(in))
		return "x", nil
	}, workflow.NodeConfig{})
	a := newPromptApp(t, prompt.Config{Status: prompt.Text("The build is green.")}, func(a *promptApp) agent.Agent {
		flow := made(t)(workflowagent.New(workflowagent.Config{Name: "flow", Edges: []workflow.Edge{{From: workflow.Start, To: first}}}))
		return a.agent("root", func(req *model.LLMRequest) *model.LLMResponse {
			return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": "flow"})
		}, func(cfg *llmagent.Config) { cfg.SubAgents = []agent.Agent{flow} })
	}, nil)
	a.say(genai.NewContentFromText("order 7", genai.RoleUser))
	if want := []string{`"order 7"`}; !slices.Equal(inputs, want) {
		t.Errorf("the first node's inputs are %q, want %q", inputs, want)
	}
}

// say plays a message. id is that of the call that it answers.
func (a *promptApp) say(msg *genai.Content, id ...string) {
	a.t.Helper()
	if len(id) > 0 {
		msg.Parts[0].FunctionResponse.ID = id[0]
	}
	for _, err := range a.runner.Run(a.t.Context(), ref.UserID, ref.SessionID, msg, agent.RunConfig{}) {
		if err != nil {
			a.t.Error(err)
		}
	}
}
