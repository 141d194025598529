//go:build ignore

package integration_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/workflow"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/budget"
)

// rounds is a model that calls a tool in each of its first answers.
type rounds struct {
	calls, most int
	tool, ask   string // what is called, and what it is asked for
	last        string // the tool of the last answer, "" for a text
	lacksTask   int
}

func (*rounds) Name() string { return "gemini-2.5-flash" }

func (m *rounds) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	contents, _ := promptsize.OfRequest(req)
	if !strings.Contains(asJSON(req.Contents), "TASK-77") {
		m.lacksTask++
	}
	resp := compactiontest.Say("Done.")
	switch m.calls++; {
	case m.calls <= m.most:
		resp = compactiontest.CallTool(m.tool, map[string]any{"request": fmt.Sprint(m.ask, m.calls)})
	case m.last != "":
		resp = compactiontest.CallTool(m.last, map[string]any{"result": "Done."})
	}
	resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(contents + 200), CandidatesTokenCount: 20}
	return func(yield func(*model.LLMResponse, error) bool) { yield(resp, nil) }
}

// TestTheBudgetCompactsForAgentsOfEveryMode: ADK runs an agent of a workflow for one turn, in a session that it has put
// around ours. What the budget does for an agent in a chat, it does for that one and for one with a task.
func TestTheBudgetCompactsForAgentsOfEveryMode(t *testing.T) {
	t.Parallel()
	under := func(a *modeApp, worker agent.Agent) agent.Agent {
		asks := &rounds{most: 1, tool: "worker", ask: "TASK-77, part "}
		return made(t)(llmagent.New(llmagent.Config{Name: "root", Model: a.stack.Model(asks), SubAgents: []agent.Agent{worker}, Tools: a.stack.Tools()}))
	}
	for name, place := range map[string]struct {
		mode llmagent.Mode
		root func(a *modeApp, worker agent.Agent) agent.Agent
	}{
		"the root of a chat":   {llmagent.ModeChat, func(_ *modeApp, worker agent.Agent) agent.Agent { return worker }},
		"with a task":          {llmagent.ModeTask, under},
		"for one turn":         {llmagent.ModeSingleTurn, under},
		"a node of a workflow": {"", func(_ *modeApp, worker agent.Agent) agent.Agent { return inFlow(t, worker) }},
	} {
		for _, ahead := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ahead %t", name, ahead), func(t *testing.T) {
				t.Parallel()
				a := newModeApp(t)
				m := &rounds{most: 60, tool: "look", ask: "round "}
				if place.mode == llmagent.ModeTask {
					m.last = "finish_task"
				}
				cfg := llmagent.Config{Name: "worker", Description: "Works.", Mode: place.mode, Model: a.stack.Model(m), Tools: append([]tool.Tool{a.look()}, a.stack.Tools()...)}
				if cfg.InstructionProvider = budget.Instruction("Work."); ahead {
					cfg.InstructionProvider = a.stack.Ahead(cfg.InstructionProvider)
				}
				a.run(place.root(a, made(t)(llmagent.New(cfg))), "Do TASK-77.")
				if m.calls != 61 || m.lacksTask > 0 {
					t.Errorf("%d model calls, want 61; %d without the task", m.calls, m.lacksTask)
				}
				compacted := a.kinds[budget.Rebuilt]
				if ahead {
					compacted = a.kinds[budget.CompactedAhead]
				}
				if compacted == 0 || a.kinds[budget.Dropped] > 0 || a.kinds[budget.PrefixBroken] > 2*compacted || a.kinds[budget.Noted] == 0 {
					t.Errorf("it was not done what is done in a chat: %v", a.kinds)
				}
			})
		}
	}
}

// modeApp is an app over a stack with a small window, and what its budget has observed.
type modeApp struct {
	t     *testing.T
	stack *longsession.Stack
	kinds map[budget.Kind]int
}

func newModeApp(t *testing.T) *modeApp {
	t.Helper()
	a := &modeApp{t: t, kinds: map[budget.Kind]int{}}
	cfg := longsession.Config{Compaction: compaction.DefaultConfig(), Disable: []longsession.Layer{longsession.LayerToolResults}}
	c := &cfg.Compaction
	c.Summarizer, c.Synchronous, c.AgentModel, c.ContextWindow = &compactiontest.Oracle{}, true, "gemini-2.5-flash", 8_000
	c.TokenThreshold, c.InvocationThreshold = compaction.Off, compaction.Off
	cfg.Budget.Observer = func(_ context.Context, o budget.Observation) { a.kinds[o.Kind]++ }
	stack, err := longsession.New(session.InMemoryService(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	a.stack = stack
	return a
}

// run plays one message, and waits for what the budget has observed.
func (a *modeApp) run(root agent.Agent, text string) {
	a.t.Helper()
	r, err := runner.New(runner.Config{AppName: "app", Agent: root, SessionService: a.stack.Sessions, PluginConfig: a.stack.PluginConfig(), AutoCreateSession: true})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, err := range r.Run(a.t.Context(), "user", "s", genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			a.t.Fatal(err)
		}
	}
	if err := a.stack.Close(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// look is a tool with a long result.
func (a *modeApp) look() tool.Tool {
	type args struct {
		Request string `json:"request"`
	}
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks."}, func(_ agent.ToolContext, in args) (map[string]any, error) {
		return map[string]any{"text": strings.Repeat("A line of "+in.Request+". ", 120)}, nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return look
}

// made returns a function that fails the test if an agent cannot be made.
func made(t *testing.T) func(agent.Agent, error) agent.Agent {
	return func(a agent.Agent, err error) agent.Agent {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// inFlow returns a workflow of one agent.
func inFlow(t *testing.T, a agent.Agent) agent.Agent {
	t.Helper()
	node, err := workflow.NewAgentNode(a, workflow.NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return made(t)(workflowagent.New(workflowagent.Config{Name: "flow", Edges: []workflow.Edge{{From: workflow.Start, To: node}}}))
}
