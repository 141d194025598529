package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/prompt"
)

// promptApp is an app whose instructions a builder makes, over ADK's own session service.
type promptApp struct {
	t       *testing.T
	cfg     prompt.Config
	build   func(a *promptApp) agent.Agent
	service session.Service
	// noPlugins leaves the builder's plugins out, and noWrapper its model.
	noPlugins, noWrapper bool
	before, behind       []*plugin.Plugin // the app's own, around the builder's
	between              []*plugin.Plugin
	stream               agent.StreamingMode
	more                 func(*llmagent.Config) // changes each agent, if not nil
	measured             bool                   // a meter of package budget is below the builder

	builder *prompt.Builder
	meter   *budget.Meter
	runner  *runner.Runner

	mu           sync.Mutex
	sent         []sentPrompt
	observations []prompt.Observation
	breaks       []*budget.PrefixBreak
}

// sentPrompt is a request as the model received it.
type sentPrompt struct {
	agent, key  string
	instruction []string // texts of its parts
	pieces      []string // instruction, tools, contents, each as JSON
	names       []string
	breakpoints []int
	joined      string
}

func newPromptApp(t *testing.T, cfg prompt.Config, build func(*promptApp) agent.Agent, change func(*promptApp)) *promptApp {
	t.Helper()
	a := &promptApp{t: t, cfg: cfg, build: build}
	if change != nil {
		change(a)
	}
	if a.service == nil {
		a.service = session.InMemoryService()
		createBare(t, a.service)
	}
	a.cfg.Observer = func(_ context.Context, o prompt.Observation) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.observations = append(a.observations, o)
	}
	var err error
	if a.builder, err = prompt.New(a.cfg); err != nil {
		t.Fatal(err)
	}
	if a.measured {
		a.meter, err = budget.New(budget.Config{ContextWindow: 10_000_000, Sections: prompt.SectionNames, Observer: func(_ context.Context, o budget.Observation) {
			if o.Kind == budget.PrefixBroken {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.breaks = append(a.breaks, o.Break)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	plugins := slices.Clone(a.before)
	if !a.noPlugins {
		plugins = append(plugins, a.builder.Plugin())
	}
	plugins = append(plugins, a.between...)
	if message := a.builder.MessagePlugin(); message != nil && !a.noPlugins {
		plugins = append(plugins, message)
	}
	plugins = append(plugins, a.behind...)
	plugins = slices.DeleteFunc(plugins, func(p *plugin.Plugin) bool { return p == nil })
	a.runner, err = runner.New(runner.Config{AppName: ref.AppName, Agent: build(a), SessionService: a.service, PluginConfig: runner.PluginConfig{Plugins: plugins}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// agent is an agent with a model that plays a plan. change may be nil.
func (a *promptApp) agent(name string, plan func(req *model.LLMRequest) *model.LLMResponse, change func(*llmagent.Config)) agent.Agent {
	a.t.Helper()
	var llm model.LLM = &planned{app: a, name: name, plan: plan}
	if a.meter != nil {
		llm = a.meter.Model(llm)
	}
	if !a.noWrapper {
		llm = a.builder.Model(llm)
	}
	cfg := llmagent.Config{Name: name, Description: "Plays " + name + ".", Instruction: "You are " + name + ".", Model: llm}
	if change != nil {
		change(&cfg)
	}
	if a.more != nil {
		a.more(&cfg)
	}
	made, err := llmagent.New(cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// planned is a model that plays a plan. It is safe for concurrent use.
type planned struct {
	app  *promptApp
	name string
	plan func(req *model.LLMRequest) *model.LLMResponse
}

func (m *planned) Name() string { return "test-model" }

func (m *planned) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		a := m.app
		if problems := requests.Pairs(req.Contents); len(problems) > 0 {
			a.t.Errorf("%s: a provider would refuse the request: %q", m.name, problems)
		}
		got := a.record(ctx, m.name, req)
		a.mu.Lock()
		a.sent = append(a.sent, got)
		a.mu.Unlock()
		resp := m.plan(req)
		if text := resp.Content.Parts[0].Text; stream && text != "" {
			if !yield(&model.LLMResponse{Content: genai.NewContentFromText(text[:1], genai.RoleModel), Partial: true}, nil) {
				return
			}
		}
		yield(resp, nil)
	}
}

func (a *promptApp) record(ctx context.Context, name string, req *model.LLMRequest) sentPrompt {
	got := sentPrompt{agent: name, key: name, names: prompt.SectionNames(ctx), breakpoints: prompt.Breakpoints(ctx)}
	if ic, ok := ctx.(agent.InvocationContext); ok {
		got.key = fmt.Sprint(ic.Session().AppName(), " ", ic.Session().ID(), " ", ic.Branch(), " ", name)
	} else {
		a.t.Errorf("the context of a model call is a %T", ctx)
	}
	if req.Config.SystemInstruction != nil {
		for _, p := range req.Config.SystemInstruction.Parts {
			got.instruction = append(got.instruction, p.Text)
		}
	}
	got.joined = prompt.Joined(req.Config.SystemInstruction)
	got.pieces = []string{asJSON(req.Config.SystemInstruction), asJSON(req.Config.Tools)}
	for _, c := range req.Contents {
		got.pieces = append(got.pieces, asJSON(c))
	}
	return got
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// ask runs one turn, which must not fail.
func (a *promptApp) ask(text string) []*session.Event {
	a.t.Helper()
	var events []*session.Event
	for ev, err := range a.runner.Run(a.t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{StreamingMode: a.stream}) {
		if err != nil {
			a.t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

// flush waits for all observers.
func (a *promptApp) flush() {
	a.t.Helper()
	if err := a.builder.Flush(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	if a.meter != nil {
		if err := a.meter.Flush(a.t.Context()); err != nil {
			a.t.Fatal(err)
		}
	}
}

// observed returns how many observations there were, by kind and section.
func (a *promptApp) observed() map[string]int {
	a.flush()
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]int{}
	for _, o := range a.observations {
		out[string(o.Kind)+" "+o.Section]++
	}
	return out
}

// broken returns how many requests do not extend the last one of the same agent in the same branch of a
// session, by the first piece that differs: 0 is the instruction, 1 the tools, others contents.
func (a *promptApp) broken() map[int]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, out := map[string][]string{}, map[int]int{}
	for _, s := range a.sent {
		before := last[s.key]
		for i, piece := range before {
			if i >= len(s.pieces) || s.pieces[i] != piece {
				out[min(i, 2)]++
				break
			}
		}
		last[s.key] = s.pieces
	}
	return out
}

// instructions returns the different instructions that each agent was sent.
func (a *promptApp) instructions() map[string][]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string][]string{}
	for _, s := range a.sent {
		if !slices.Contains(out[s.agent], s.pieces[0]) {
			out[s.agent] = append(out[s.agent], s.pieces[0])
		}
	}
	return out
}

// changing is a source whose text a test sets.
type changing struct {
	mu    sync.Mutex
	text  string
	err   error
	calls int
}

func (c *changing) Text(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return c.text, c.err
}

func (c *changing) set(text string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text, c.err = text, err
}

func (c *changing) called() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// counting is a source that says something else in each call.
func counting(what string) prompt.Source {
	var mu sync.Mutex
	n := 0
	return prompt.SourceFunc(func(context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%s %d", what, n), nil
	})
}

// manyTools are tools that return their argument.
func manyTools(t *testing.T, n int) []tool.Tool {
	t.Helper()
	var out []tool.Tool
	for i := range n {
		out = append(out, pinTool(t, fmt.Sprintf("tool_%02d", i), nil))
	}
	return out
}
