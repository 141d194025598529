package integration_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
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
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// searchApp is an app whose agents have more tools than their models are told of.
type searchApp struct {
	t      *testing.T
	store  storages.Storage
	build  func(*searchApp) agent.Agent
	stream agent.StreamingMode
	// loose allows requests that end with a turn of the model, as those of loops do without any layer.
	loose bool
	// bare leaves the deferral out; whole puts it into a stack with every other layer.
	bare, whole bool
	// more changes each agent, if not nil.
	more func(*llmagent.Config)

	inner  session.Service
	stack  *longsession.Stack // nil unless whole
	runner *runner.Runner
	models map[string]*searcher // by the name of the agent; they survive a restart, as a provider does
	seen   hooks
}

// hooks is what callbacks and tools have seen: the names of tools, and what they ran with.
type hooks struct {
	mu                     sync.Mutex
	before, after, plugged []string
	ran                    map[string][]int
}

func (h *hooks) add(list *[]string, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*list = append(*list, name)
}

func newSearchApp(t *testing.T, store storages.Storage, build func(*searchApp) agent.Agent, change func(*searchApp)) *searchApp {
	t.Helper()
	a := &searchApp{t: t, store: store, build: build, models: map[string]*searcher{}}
	a.seen.ran = map[string][]int{}
	if change != nil {
		change(a)
	}
	a.open()
	if _, err := a.inner.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	return a
}

// open puts a new deferral, new agents and a new runner over the storage, as a new process would.
func (a *searchApp) open() {
	a.t.Helper()
	a.inner = a.store.Open(a.t)
	watcher, err := plugin.New(plugin.Config{
		Name: "watcher",
		BeforeToolCallback: func(_ agent.ToolContext, t tool.Tool, _ map[string]any) (map[string]any, error) {
			a.seen.add(&a.seen.plugged, t.Name())
			return nil, nil
		},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	service, plugins := a.inner, runner.PluginConfig{Plugins: []*plugin.Plugin{watcher}}
	if a.whole {
		search := a.searchConfig()
		search.ContextWindow, search.Threshold = 0, 0.004 // nothing else has to become smaller
		a.stack, err = longsession.New(a.inner, longsession.Config{
			Compaction: compaction.Config{Summarizer: &compactiontest.Oracle{}, InvocationThreshold: compaction.Off, ContextWindow: 500_000},
			ToolSearch: search,
		})
		if err != nil {
			a.t.Fatal(err)
		}
		stack := a.stack
		a.t.Cleanup(func() { _ = stack.Close(context.Background()) })
		service, plugins = stack.Sessions, stack.PluginConfig(watcher)
	}
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: a.build(a), SessionService: service, PluginConfig: plugins})
	if err != nil {
		a.t.Fatal(err)
	}
	a.runner = r
}

// searchConfig defers all tools whose names begin with svc_.
func (a *searchApp) searchConfig() toolsearch.Config {
	return toolsearch.Config{ContextWindow: 20_000, Category: func(t tool.Tool) toolsearch.Category {
		if strings.HasPrefix(t.Name(), "svc_") {
			return toolsearch.MCP
		}
		return toolsearch.BuiltIn
	}}
}

// model returns a model with the layers of the app around it.
func (a *searchApp) model(llm model.LLM) model.LLM {
	a.t.Helper()
	switch {
	case a.bare:
		return llm
	case a.whole:
		return a.stack.Model(llm)
	}
	d, err := toolsearch.New(a.searchConfig())
	if err != nil {
		a.t.Fatal(err)
	}
	return d.Model(llm)
}

// agent is an agent with thirty services, a notebook, and a model that follows a script. change may be nil.
func (a *searchApp) agent(name string, change func(*llmagent.Config, *searcher)) agent.Agent {
	a.t.Helper()
	m := a.models[name]
	if m == nil {
		m = &searcher{a: a, name: name, runs: everyKindOfCall}
		a.models[name] = m
	}
	cfg := llmagent.Config{Name: name, Description: "Plays " + name + ".", Instruction: "You work with services.", Model: a.model(m), Tools: []tool.Tool{a.service("note", false)}}
	for i := range 30 {
		cfg.Tools = append(cfg.Tools, a.service(fmt.Sprintf("svc_%02d", i), i == 29))
	}
	cfg.BeforeToolCallbacks = []llmagent.BeforeToolCallback{func(_ agent.ToolContext, t tool.Tool, _ map[string]any) (map[string]any, error) {
		a.seen.add(&a.seen.before, t.Name())
		return nil, nil
	}}
	cfg.AfterToolCallbacks = []llmagent.AfterToolCallback{func(_ agent.ToolContext, t tool.Tool, _, _ map[string]any, _ error) (map[string]any, error) {
		a.seen.add(&a.seen.after, t.Name())
		return nil, nil
	}}
	if change != nil {
		change(&cfg, m)
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

type serviceArgs struct {
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

// service is a tool that returns its argument.
func (a *searchApp) service(name string, confirmed bool) tool.Tool {
	a.t.Helper()
	made, err := functiontool.New(functiontool.Config{
		Name: name, RequireConfirmation: confirmed,
		Description: "Works with " + name + ". " + strings.Repeat("It takes a number and may take a text, and it returns both. ", 8),
	}, func(_ agent.ToolContext, args serviceArgs) (map[string]any, error) {
		a.seen.mu.Lock()
		defer a.seen.mu.Unlock()
		a.seen.ran[name] = append(a.seen.ran[name], args.N)
		return map[string]any{"n": args.N, "text": args.Text, "by": name}, nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// send runs one turn, which must not fail.
func (a *searchApp) send(content *genai.Content) []*session.Event {
	a.t.Helper()
	var events []*session.Event
	for ev, err := range a.runner.Run(a.t.Context(), ref.UserID, ref.SessionID, content, agent.RunConfig{StreamingMode: a.stream}) {
		if err != nil {
			a.t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

// play runs n turns.
func (a *searchApp) play(n int) {
	a.t.Helper()
	for i := range n {
		a.send(genai.NewContentFromText(fmt.Sprintf("Please do part %d.", i), genai.RoleUser))
	}
}

// stored returns the names of all stored calls, with how many there are of each.
func (a *searchApp) stored() map[string]int {
	a.t.Helper()
	names := map[string]int{}
	resp, err := a.inner.Get(a.t.Context(), getRequest())
	if err != nil {
		a.t.Fatal(err)
	}
	for _, ev := range eventsOf(resp.Session) {
		for _, call := range requests.Calls(ev.Content) {
			names[call.Name]++
		}
	}
	return names
}

// searcher is the model of one agent. It follows a script, and checks each request.
type searcher struct {
	a    *searchApp
	name string
	runs []script // played in turn
	// fresh is true if each run has a session of its own, as that of an agent that is a tool.
	fresh bool
	// begin is answered before the script of each run, if not nil.
	begin *genai.Content

	mu       sync.Mutex
	run      int
	last     string // the contents of the last request
	config   string
	configs  int // how often the config changed
	requests int
}

// script is what a model answers in one run, before it says that it is done.
type script []*genai.Content

func (m *searcher) Name() string { return "model-of-" + m.name }

func (m *searcher) GenerateContent(_ context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.mu.Lock()
		content := m.next(req)
		m.mu.Unlock()
		if content == nil {
			yield(compactiontest.Say("Done."), nil)
			return
		}
		// ADK's stream of Gemini shows the parts of the final response in partial ones before.
		if stream && !yield(&model.LLMResponse{Content: &genai.Content{Role: content.Role, Parts: content.Parts}, Partial: true}, nil) {
			return
		}
		yield(&model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop}, nil)
	}
}

// next checks a request, and returns the next answer of the script. It returns nil at its end.
func (m *searcher) next(req *model.LLMRequest) *genai.Content {
	m.check(req)
	step := 0
	for _, content := range slices.Backward(req.Contents) {
		if content.Role == genai.RoleModel {
			step++
		} else if len(requests.Responses(content)) == 0 {
			break
		}
	}
	if step == 0 {
		m.run++
	}
	lines := m.runs[(m.run-1)%len(m.runs)]
	if m.begin != nil {
		lines = append(script{m.begin}, lines...)
	}
	if step >= len(lines) {
		return nil
	}
	line := *lines[step] // each response has a content of its own, as those of a provider
	line.Parts = slices.Clone(line.Parts)
	for i, part := range line.Parts {
		clone := *part
		if part.FunctionCall != nil {
			call := *part.FunctionCall
			clone.FunctionCall = &call
		}
		line.Parts[i] = &clone
	}
	return &line
}

func (m *searcher) check(req *model.LLMRequest) {
	m.requests++
	t := m.a.t
	problems := requests.Pairs(req.Contents)
	if !m.a.loose {
		problems = requests.Problems(req.Contents)
	}
	if !m.a.bare {
		problems = append(problems, requests.Undeclared(req)...)
	}
	if len(problems) > 0 {
		t.Errorf("%s, request %d: %q", m.name, m.requests, problems)
	}
	contents := strings.TrimSuffix(canonical(req.Contents), "]")
	if !strings.HasPrefix(contents, m.last) && (!m.fresh || len(req.Contents) > 1) {
		same := 0
		for same < len(contents) && contents[same] == m.last[same] {
			same++
		}
		t.Errorf("%s, request %d does not extend the one before: %.300s instead of %.300s", m.name, m.requests, contents[same:], m.last[same:])
	}
	m.last = contents
	if config := canonical(req.Config); config != m.config {
		m.config = config
		m.configs++
	}
}

// through is a call of a tool through tool_call, as a model makes it.
func through(name string, args any) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{Name: "tool_call", Args: map[string]any{"name": name, "arguments": args}}}
}

func direct(name string, args map[string]any) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{Name: name, Args: args}}
}

func says(parts ...*genai.Part) *genai.Content {
	return &genai.Content{Role: genai.RoleModel, Parts: parts}
}

// signed is a part with a thought signature.
func signed(part *genai.Part) *genai.Part {
	part.ThoughtSignature = []byte("signature")
	return part
}

// everyKindOfCall are runs in which a model calls tools in all ways that work, and in some that do not.
var everyKindOfCall = []script{
	{ // it searches, and calls what it has found
		says(signed(direct("tool_search", map[string]any{"query": "svc_07"}))),
		says(signed(through("svc_07", map[string]any{"n": 1.0, "text": "found"}))),
	},
	{ // declared and deferred tools in parallel
		says(signed(direct("note", map[string]any{"n": 2.0})), through("svc_07", map[string]any{"n": 3.0}), through("svc_08", map[string]any{"n": 4.0}), direct("note", map[string]any{"n": 5.0})),
	},
	{ // by its own name, and a declared tool through tool_call
		says(direct("svc_03", map[string]any{"n": 6.0})),
		says(through("note", map[string]any{"n": 7.0}), direct("svc_04", map[string]any{"n": 8.0})),
	},
	{ // wrong in ways that can be understood, and in ways that cannot
		says(through("svc_05", `{"n":9}`)),
		says(through("svc_05", map[string]any{"text": "no number"})),
		says(through("svc_99", map[string]any{"n": 10.0}), direct("svc_98", map[string]any{"n": 11.0})),
		says(through("tool_search", map[string]any{"query": "x"}), through("svc_05", map[string]any{"n": 12.0})),
	},
}
