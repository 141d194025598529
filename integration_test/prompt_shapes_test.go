package integration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/prompt"
)

// worked calls a tool, wide times at once, and then answers.
func worked(wide int) func(*model.LLMRequest) *model.LLMResponse {
	return func(req *model.LLMRequest) *model.LLMResponse {
		n, _ := turnOf(req)
		last := req.Contents[len(req.Contents)-1]
		if last.Parts[0].FunctionResponse != nil || last.Role == genai.RoleModel {
			return compactiontest.Say(fmt.Sprint("Answer ", n))
		}
		args := make([]map[string]any, wide)
		for i := range args {
			args[i] = map[string]any{"n": 10*n + i}
		}
		return compactiontest.CallTool("tool_00", args...)
	}
}

// promptShape is a way in which agents work together.
type promptShape struct {
	name  string
	build func(a *promptApp) agent.Agent
	// apart is the agent that runs as a tool, "" for none.
	apart  string
	stream agent.StreamingMode
}

func (a *promptApp) worker(name string, wide int) agent.Agent {
	return a.agent(name, worked(wide), func(cfg *llmagent.Config) { cfg.Tools = manyTools(a.t, 1) })
}

func (a *promptApp) made(made agent.Agent, err error) agent.Agent {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

var promptShapes = []promptShape{
	{name: "single", build: func(a *promptApp) agent.Agent { return a.worker("one", 1) }},
	{name: "streaming", stream: agent.StreamingModeSSE, build: func(a *promptApp) agent.Agent { return a.worker("one", 1) }},
	{name: "parallel tools", build: func(a *promptApp) agent.Agent { return a.worker("one", 3) }},
	{name: "transfer", build: manyAgents(2, 3)},
	{name: "sequential", build: func(a *promptApp) agent.Agent {
		return a.made(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{a.worker("one", 1), a.worker("two", 1)}}}))
	}},
	{name: "parallel", build: func(a *promptApp) agent.Agent {
		return a.made(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: []agent.Agent{a.worker("one", 1), a.worker("two", 1)}}}))
	}},
	{name: "loop", build: func(a *promptApp) agent.Agent {
		return a.made(loopagent.New(loopagent.Config{MaxIterations: 2, AgentConfig: agent.Config{Name: "again", SubAgents: []agent.Agent{a.worker("one", 1)}}}))
	}},
	{name: "an agent as a tool", apart: "expert", build: func(a *promptApp) agent.Agent {
		expert := a.worker("expert", 1)
		return a.agent("one", func(req *model.LLMRequest) *model.LLMResponse {
			if req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse != nil {
				return compactiontest.Say("The expert knows.")
			}
			return compactiontest.CallTool("expert", map[string]any{"request": "Look into it."})
		}, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{agenttool.New(expert, nil)} })
	}},
}

// eachPromptShape runs f with an app of each shape.
func eachPromptShape(t *testing.T, f func(t *testing.T, s promptShape, newApp func(prompt.Config, func(*promptApp)) *promptApp)) {
	t.Helper()
	for _, s := range promptShapes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f(t, s, func(cfg prompt.Config, change func(*promptApp)) *promptApp {
				return newPromptApp(t, cfg, s.build, func(a *promptApp) {
					a.stream = s.stream
					if change != nil {
						change(a)
					}
				})
			})
		})
	}
}

// In every shape, each request has each section once, behind ADK's own part, whether the plugin, the wrapper
// or both are used, and the sources are asked once per run.
func TestEveryShapeHasEachSectionOnce(t *testing.T) {
	t.Parallel()
	want := []string{"", "# AGENTS.md\nUse {tabs}.", "The user is {name}.", "Skills: pdf"}
	eachPromptShape(t, func(t *testing.T, s promptShape, newApp func(prompt.Config, func(*promptApp)) *promptApp) {
		for _, way := range []struct {
			name                 string
			noPlugins, noWrapper bool
		}{{"both", false, false}, {"wrapper", true, false}, {"plugin", false, true}} {
			project := &changing{text: want[1]}
			a := newApp(prompt.Config{Project: project, Memories: prompt.Text(want[2]), Skills: prompt.SourceFunc((&changing{text: want[3]}).Text)}, func(a *promptApp) {
				a.noPlugins, a.noWrapper = way.noPlugins, way.noWrapper
			})
			for turn := range 3 {
				a.ask(fmt.Sprint("Question ", turn))
			}
			apart := 0
			for i, sent := range a.sent {
				if sent.agent == s.apart && way.noWrapper {
					continue // an agent that runs as a tool has no plugins
				}
				if sent.agent == s.apart && strings.Contains(sent.pieces[len(sent.pieces)-1], "Look into it.") {
					apart++
				}
				if len(sent.instruction) != 4 || !slices.Equal(sent.instruction[1:], want[1:]) {
					t.Fatalf("%s: the instruction of request %d of %s is %q", way.name, i, sent.agent, sent.instruction)
				}
				if !way.noWrapper && (!slices.Equal(sent.names, []string{"base", "project", "memories", "skills"}) || len(sent.breakpoints) != 3) {
					t.Errorf("%s: sections %q, break points %v", way.name, sent.names, sent.breakpoints)
				}
				end := 0
				for n, at := range sent.breakpoints {
					if end += len(sent.instruction[n]); at != end || sent.joined[:at] != strings.Join(sent.instruction[:n+1], "\n\n") {
						t.Errorf("%s: break point %d is %d, want %d", way.name, n, at, end)
					}
					end += len("\n\n")
				}
			}
			if calls := project.called(); calls != 3+apart {
				t.Errorf("%s: the source was asked %d times in %d runs", way.name, calls, 3+apart)
			}
			if observed := a.observed(); len(observed) != 0 {
				t.Errorf("%s: observed %v", way.name, observed)
			}
			if broken := a.broken(); broken[0] > 0 {
				t.Errorf("%s: %v prefixes broken", way.name, broken)
			}
		}
	})
}

// Scratchpad and status, which change in every step, break no prefix in any shape. Agents that run as tools have
// none, because no plugin sees their sessions.
func TestNotesBreakNoPrefixInAnyShape(t *testing.T) {
	t.Parallel()
	eachPromptShape(t, func(t *testing.T, s promptShape, newApp func(prompt.Config, func(*promptApp)) *promptApp) {
		a := newApp(prompt.Config{Project: prompt.Text("Use tabs."), Scratchpad: counting("Plan"), Status: counting("Step")}, nil)
		bare := newApp(prompt.Config{Project: prompt.Text("Use tabs.")}, nil)
		for turn := range 4 {
			a.ask(fmt.Sprint("Question ", turn))
			bare.ask(fmt.Sprint("Question ", turn))
		}
		if got, want := fmt.Sprint(a.broken()), fmt.Sprint(bare.broken()); got != want {
			t.Errorf("broken prefixes %s, without notes %s", got, want)
		}
		if len(a.sent) != len(bare.sent) {
			t.Errorf("%d requests, without notes %d", len(a.sent), len(bare.sent))
		}
		noted := 0
		for _, sent := range a.sent {
			has := strings.Contains(strings.Join(sent.pieces, ""), "[Status, from the app")
			if has != (sent.agent != s.apart) {
				t.Errorf("a request of %s has a status: %v", sent.agent, has)
			}
			if has {
				noted++
			}
		}
		if noted < 4 {
			t.Errorf("%d requests with a status: the test shows too little", noted)
		}
	})
}

// Two processes that serve one session in turn send what one process sends.
func TestProcessesThatTakeTurnsSendTheSameBytes(t *testing.T) {
	t.Parallel()
	eachPromptShape(t, func(t *testing.T, s promptShape, newApp func(prompt.Config, func(*promptApp)) *promptApp) {
		if s.name == "parallel" {
			return // there, agents run in any order
		}
		play := func(processes int) (out []string) {
			step := 0 // all processes ask one source
			status := prompt.SourceFunc(func(context.Context) (string, error) {
				step++
				return fmt.Sprint("Step ", step/3), nil // the same text for some steps
			})
			service := session.InMemoryService()
			createBare(t, service)
			var apps []*promptApp
			for range processes {
				cfg := prompt.Config{Project: prompt.Text("Use {tabs}."), Memories: prompt.Text("M"), Status: status}
				apps = append(apps, newApp(cfg, func(a *promptApp) { a.service = service }))
			}
			for turn := range 6 {
				a := apps[turn%processes]
				before := len(a.sent)
				a.ask(fmt.Sprint("Question ", turn))
				for _, sent := range a.sent[before:] {
					out = append(out, sent.agent+strings.Join(sent.pieces, "\n"))
				}
			}
			return out
		}
		one, two := play(1), play(2)
		if !slices.Equal(one, two) {
			t.Errorf("one process sends\n%s\ntwo send\n%s", strings.Join(one, "\n\n"), strings.Join(two, "\n\n"))
		}
	})
}
