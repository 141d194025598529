package mcp_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// step answers one request of the agent.
type step func(req *model.LLMRequest) *genai.Content

// script is a model that answers with one step after the other, and with a text once they are used up.
type script struct {
	t     *testing.T
	steps []step
	seen  []*model.LLMRequest
}

func (*script) Name() string { return "script" }

func (s *script) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for _, problem := range requests.Problems(req.Contents) {
			s.t.Errorf("request %d: %s", len(s.seen)+1, problem)
		}
		config := *req.Config
		s.seen = append(s.seen, &model.LLMRequest{Contents: slices.Clone(req.Contents), Config: &config, Tools: req.Tools})
		content := genai.NewContentFromText("Done.", genai.RoleModel)
		if len(s.steps) > 0 {
			content = s.steps[0](req)
			s.steps = s.steps[1:]
		}
		yield(&model.LLMResponse{Content: content}, nil)
	}
}

// calls answers with a call.
func calls(name string, args map[string]any) step {
	return func(*model.LLMRequest) *genai.Content {
		return genai.NewContentFromFunctionCall(name, args, genai.RoleModel)
	}
}

// declared returns the names of a request's declarations.
func declared(req *model.LLMRequest) []string {
	var names []string
	for _, t := range req.Config.Tools {
		for _, decl := range t.FunctionDeclarations {
			names = append(names, decl.Name)
		}
	}
	return names
}

// app is an agent with toolsets on ADK's runner.
type app struct {
	t       *testing.T
	ctx     context.Context
	model   *script
	runner  *runner.Runner
	service session.Service
}

// patience bounds a test that hangs. Nothing is measured against it.
const patience = 2 * time.Minute

func newApp(t *testing.T, wrap func(model.LLM) model.LLM, toolsets ...tool.Toolset) *app {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	a := &app{t: t, ctx: ctx, model: &script{t: t}, service: session.InMemoryService()}
	a.start(wrap, toolsets...)
	return a
}

// start starts the app, or starts it again on the same sessions.
func (a *app) start(wrap func(model.LLM) model.LLM, toolsets ...tool.Toolset) {
	a.t.Helper()
	llm := model.LLM(a.model)
	if wrap != nil {
		llm = wrap(llm)
	}
	agent, err := llmagent.New(llmagent.Config{Name: "worker", Model: llm, Instruction: "Use the tools.", Toolsets: toolsets})
	if err != nil {
		a.t.Fatal(err)
	}
	a.runner, err = runner.New(runner.Config{AppName: "app", Agent: agent, SessionService: a.service, AutoCreateSession: true})
	if err != nil {
		a.t.Fatal(err)
	}
}

// turn runs one turn, and returns the events and the error that ended it.
func (a *app) run(message *genai.Content, steps ...step) ([]*session.Event, error) {
	a.t.Helper()
	a.model.steps = steps
	var events []*session.Event
	for ev, err := range a.runner.Run(a.ctx, "user", "session", message, agent.RunConfig{}) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// turn runs a turn that must succeed, and returns what tools returned.
func (a *app) turn(steps ...step) []*genai.FunctionResponse {
	a.t.Helper()
	events, err := a.run(genai.NewContentFromText("Please.", genai.RoleUser), steps...)
	if err != nil {
		a.t.Fatalf("the turn fails: %v", err)
	}
	if len(a.model.steps) > 0 {
		a.t.Fatalf("the turn ended %d steps early", len(a.model.steps))
	}
	return responses(events)
}

func responses(events []*session.Event) []*genai.FunctionResponse {
	var all []*genai.FunctionResponse
	for _, ev := range events {
		all = append(all, requests.Responses(ev.Content)...)
	}
	return all
}

// last is the newest request.
func (a *app) last() *model.LLMRequest { return a.model.seen[len(a.model.seen)-1] }

// until runs turns until the model is told of a tool.
func (a *app) until(name string) {
	a.t.Helper()
	for a.ctx.Err() == nil {
		if a.turn(); slices.Contains(declared(a.last()), name) {
			return
		}
	}
	a.t.Fatalf("no request declares %s", name)
}

// watch collects the observations of a group.
type watch struct {
	mu   sync.Mutex
	seen []toolsearch.Observation
}

func (w *watch) Observe(_ context.Context, o toolsearch.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

// kinds waits for the observations so far, and returns their kinds. Failures and recoveries take turns. On a
// slow machine there may be more of them than a test has caused.
func (w *watch) kinds(t *testing.T, g *toolsearch.Grouped) []toolsearch.Kind {
	t.Helper()
	if err := g.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var got []toolsearch.Kind
	for i, o := range w.seen {
		got = append(got, o.Kind)
		if want := []toolsearch.Kind{toolsearch.ToolsetFailed, toolsearch.ToolsetRestored}[i%2]; o.Kind != want {
			t.Errorf("observation %d is %+v, want %s", i, o, want)
		}
	}
	return got
}

func group(t *testing.T, ts tool.Toolset, timeout time.Duration) (*toolsearch.Grouped, *watch) {
	t.Helper()
	seen := &watch{}
	g, err := toolsearch.NewGroup(toolsearch.GroupConfig{
		Category: toolsearch.MCP, Toolset: ts, Timeout: timeout, CallTimeout: timeout, Observer: seen.Observe,
	})
	if err != nil {
		t.Fatal(err)
	}
	return g, seen
}

// contains reports whether a result has the text anywhere.
func contains(r *genai.FunctionResponse, text string) bool {
	return strings.Contains(fmt.Sprint(r.Response), text)
}
