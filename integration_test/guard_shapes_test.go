package integration_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// tireless is the model of every agent of a shape. It goes on calling tools for as long as it is asked, and
// charges each call as a provider does: cumulative counts with every piece of a stream.
type tireless struct {
	name string
	// usage is what the call with this number costs; nil: 1,000 tokens of prompt and 10 of output.
	usage func(n int) *genai.GenerateContentResponseUsageMetadata
	// during is called while the request with this number is open, if not nil.
	during func(ctx context.Context, n int) error
	// even is true if each piece of a stream has the counts of the whole.
	even bool
	// says replaces the answer to an agent, if it returns one.
	says func(agent string, n int, req *model.LLMRequest) *model.LLMResponse

	mu       sync.Mutex
	of       map[string]int // calls by agent
	calls    int
	requests []*model.LLMRequest
	finished int
}

func (m *tireless) Name() string { return m.name }

// tirelessLimit is where the model gives up, so that a test that nobody stops ends and fails.
const tirelessLimit = 400

// begin records a call and returns its number and that of its agent, both from 0 on.
func (m *tireless) begin(who string, req *model.LLMRequest) (n, own int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string]int{}
	}
	n, own = m.calls, m.of[who]
	m.calls++
	m.of[who]++
	m.requests = append(m.requests, req)
	return n, own
}

func (m *tireless) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// byAgent returns the number of calls of each agent.
func (m *tireless) byAgent() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.of)
}

func (m *tireless) charge(n int) *genai.GenerateContentResponseUsageMetadata {
	if m.usage != nil {
		return m.usage(n)
	}
	return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1000, CandidatesTokenCount: 10, TotalTokenCount: 1010}
}

func (m *tireless) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		who := "nobody"
		if ic, ok := ctx.(agent.InvocationContext); ok {
			who = ic.Agent().Name()
		}
		n, own := m.begin(who, req)
		if m.during != nil {
			if err := m.during(ctx, n); err != nil {
				yield(nil, err)
				return
			}
		}
		answer := m.answer(who, n, own, req)
		if stream {
			piece := &model.LLMResponse{Content: genai.NewContentFromText("So", genai.RoleModel), Partial: true, ModelVersion: m.name}
			if charged := m.charge(n); charged != nil {
				early := *charged
				if !m.even {
					early.CandidatesTokenCount = min(1, charged.CandidatesTokenCount)
				}
				piece.UsageMetadata = &early
			}
			if !yield(piece, nil) {
				return
			}
		}
		answer.UsageMetadata = m.charge(n)
		yield(answer, nil)
		m.mu.Lock()
		m.finished++
		m.mu.Unlock()
	}
}

// answer plays the part of an agent, which its name tells.
func (m *tireless) answer(who string, n, own int, req *model.LLMRequest) *model.LLMResponse {
	if m.says != nil {
		if answer := m.says(who, own, req); answer != nil {
			return answer
		}
	}
	if n >= tirelessLimit {
		return compactiontest.Say("I am tired.")
	}
	switch strings.TrimRight(who, "0123456789") {
	case "router":
		return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": "worker"})
	case "asker":
		return compactiontest.CallTool("expert", map[string]any{"request": fmt.Sprint("Question ", own)})
	case "expert":
		if own%3 < 2 {
			return compactiontest.CallTool("deeper", map[string]any{"request": fmt.Sprint("Question ", own)})
		}
		return compactiontest.Say("Known.")
	case "repeater", "short", "deeper":
		if own%2 == 1 {
			return compactiontest.Say("Done for now.")
		}
	}
	return compactiontest.CallTool("look", map[string]any{"n": own})
}

type (
	modelRequest  = model.LLMRequest
	modelResponse = model.LLMResponse
)

// guardShape is a tree of agents that does not end by itself, or only after tirelessLimit calls.
type guardShape struct {
	name   string
	stream bool
	build  func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent
	// nested is true if most calls are made by agents that run as tools.
	nested bool
}

// lanes is the number of agents that run at the same time.
func (s guardShape) lanes() int {
	if strings.Contains(s.name, "parallel") {
		return 8
	}
	return 1
}

func (s guardShape) runConfig() agent.RunConfig {
	if s.stream {
		return agent.RunConfig{StreamingMode: agent.StreamingModeSSE}
	}
	return agent.RunConfig{StreamingMode: agent.StreamingModeNone}
}

func llmAgent(t *testing.T, name string, llm model.LLM, subs []agent.Agent, tools ...tool.Tool) agent.Agent {
	t.Helper()
	made, err := llmagent.New(llmagent.Config{Name: name, Description: "Plays " + name + ".", Model: llm, Tools: tools, SubAgents: subs})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// must returns the value of a constructor of ADK.
func must[T any](t *testing.T) func(T, error) T {
	return func(made T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

// guardShapes returns seven trees of agents, each without and with streaming.
func guardShapes() []guardShape {
	kinds := []guardShape{
		{name: "single", build: func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent {
			return llmAgent(t, "worker", llm, nil, tools...)
		}},
		{name: "transfer", build: func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent {
			return llmAgent(t, "router", llm, []agent.Agent{llmAgent(t, "worker", llm, nil, tools...)})
		}},
		{name: "sequential", build: func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent {
			subs := []agent.Agent{}
			for _, name := range []string{"short1", "short2", "short3", "worker"} {
				subs = append(subs, llmAgent(t, name, llm, nil, tools...))
			}
			return must[agent.Agent](t)(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "row", SubAgents: subs}}))
		}},
		{name: "parallel", build: func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent {
			subs := []agent.Agent{}
			for i := range 8 {
				subs = append(subs, llmAgent(t, fmt.Sprint("worker", i), llm, nil, tools...))
			}
			return must[agent.Agent](t)(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "side", SubAgents: subs}}))
		}},
		{name: "loop", build: func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent {
			return must[agent.Agent](t)(loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "round", SubAgents: []agent.Agent{llmAgent(t, "repeater", llm, nil, tools...)}}}))
		}},
		{name: "agent tools, nested", nested: true, build: func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent {
			deeper := llmAgent(t, "deeper", llm, nil, tools...)
			expert := llmAgent(t, "expert", llm, nil, agenttool.New(deeper, nil))
			return llmAgent(t, "asker", llm, nil, agenttool.New(expert, nil))
		}},
		{name: "agent tools, parallel", nested: true, build: func(t *testing.T, llm model.LLM, tools ...tool.Tool) agent.Agent {
			subs := []agent.Agent{}
			for i := range 8 {
				deeper := llmAgent(t, "deeper", llm, nil, tools...)
				expert := llmAgent(t, "expert", llm, nil, agenttool.New(deeper, nil))
				subs = append(subs, llmAgent(t, fmt.Sprint("asker", i), llm, nil, agenttool.New(expert, nil)))
			}
			return must[agent.Agent](t)(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "side", SubAgents: subs}}))
		}},
	}
	var all []guardShape
	for _, k := range kinds {
		all = append(all, k)
		k.name, k.stream = k.name+", streaming", true
		all = append(all, k)
	}
	return all
}

// played is what a turn yielded.
type played struct {
	events []*session.Event
	errs   []error
}

func (p played) err() error { return errors.Join(p.errs...) }

// guardedTurn runs a turn and goes on after errors, as ADK's console does, until patience more have come; 0: it
// stops at the first.
func guardedTurn(t *testing.T, ctx context.Context, r *runner.Runner, of compaction.SessionRef, cfg agent.RunConfig, patience int) (p played) {
	t.Helper()
	// The watchdog of the test: it measures nothing, but a turn that never ends must fail and not hang.
	done := time.AfterFunc(2*time.Minute, func() { panic("a turn has not ended for two minutes") })
	defer done.Stop()
	for ev, err := range r.Run(ctx, of.UserID, of.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), cfg) {
		if err != nil {
			if p.errs = append(p.errs, err); len(p.errs) > patience {
				break
			}
			continue
		}
		p.events = append(p.events, ev)
	}
	return p
}

// runnerOf returns a runner over the service.
func runnerOf(t *testing.T, service session.Service, root agent.Agent, plugins ...*plugin.Plugin) *runner.Runner {
	t.Helper()
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: root, SessionService: service, PluginConfig: runner.PluginConfig{Plugins: plugins}, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stateTool is the tool look, which may write into the session's state.
func stateTool(t *testing.T, ran func(session.State)) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: "look", Description: "Returns n."}, func(ctx agent.ToolContext, args lookupArgs) (map[string]any, error) {
		ran(ctx.State())
		return map[string]any{"n": args.N}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
