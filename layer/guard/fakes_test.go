package guard_test

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// testModel costs $0.001 a call: 500 prompt tokens at $1 and 50 output tokens at $10 a million.
const testModel = "guard-test"

const callCost = tokens.Dollar / 1000

func registry(t testing.TB) *tokens.Registry {
	r, err := tokens.NewRegistry(tokens.Model{Name: testModel, ContextWindow: 100_000, InputPrice: 1, OutputPrice: 10})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func usage() *genai.GenerateContentResponseUsageMetadata {
	return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 500, CandidatesTokenCount: 50}
}

// worker is a model that always calls the tool "work", until it is offered none. Streams have two partial
// responses with the usage so far.
type worker struct {
	name   string
	usage  *genai.GenerateContentResponseUsageMetadata
	delay  time.Duration
	answer func(n int, req *model.LLMRequest) *genai.Content // nil: call work, answer when tools are off
	err    func(n int) error

	mu       sync.Mutex
	requests []*model.LLMRequest
}

func newWorker() *worker { return &worker{name: testModel, usage: usage()} }

func (w *worker) Name() string { return w.name }

func (w *worker) calls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.requests)
}

func said(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleModel) }

func asks(name string, args map[string]any) *genai.Content {
	return &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{Name: name, Args: args}}}}
}

func toolsOff(req *model.LLMRequest) bool {
	return req.Config != nil && req.Config.ToolConfig != nil && req.Config.ToolConfig.FunctionCallingConfig.Mode == genai.FunctionCallingConfigModeNone
}

func (w *worker) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		w.mu.Lock()
		n := len(w.requests)
		w.requests = append(w.requests, req)
		w.mu.Unlock()
		if w.delay > 0 {
			select {
			case <-time.After(w.delay):
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
		if w.err != nil {
			if err := w.err(n); err != nil {
				yield(nil, err)
				return
			}
		}
		content := said("done")
		switch {
		case w.answer != nil:
			content = w.answer(n, req)
		case !toolsOff(req):
			content = asks("work", map[string]any{"n": n})
		}
		if stream {
			for range 2 {
				if !yield(&model.LLMResponse{Content: said("part"), Partial: true, UsageMetadata: w.usage}, nil) {
					return
				}
			}
		}
		yield(&model.LLMResponse{Content: content, UsageMetadata: w.usage}, nil)
	}
}

type workArgs struct {
	N int `json:"n"`
}

// work is a tool that calls functions when it runs.
func work(t testing.TB, ran ...func()) tool.Tool {
	made, err := functiontool.New(functiontool.Config{Name: "work", Description: "Works."}, func(_ agent.ToolContext, _ workArgs) (map[string]any, error) {
		for _, f := range ran {
			f()
		}
		return map[string]any{"ok": true}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// desk is an agent with a guard.
type desk struct {
	t        testing.TB
	guard    *guard.Guard
	sessions session.Service
	llm      *worker
	runner   *runner.Runner
	ref      compaction.SessionRef
	mu       sync.Mutex
	runs     int
	seen     []guard.Observation
}

// ran counts a run of the tool work.
func (d *desk) ran() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs++
}

type option func(*desk, *llmagent.Config)

func bare(d *desk, c *llmagent.Config) { c.Model = d.llm }

func newDesk(t testing.TB, cfg guard.Config, llm *worker, opts ...option) *desk {
	t.Helper()
	d := &desk{t: t, llm: llm, ref: compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s"}}
	cfg.Registry = registry(t)
	cfg.Observer = func(_ context.Context, o guard.Observation) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen = append(d.seen, o)
	}
	g, err := guard.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.guard, d.sessions = g, session.InMemoryService()
	c := llmagent.Config{Name: "desk", Model: g.Model(llm), Tools: []tool.Tool{work(t, d.ran)}}
	for _, o := range opts {
		o(d, &c)
	}
	a, err := llmagent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	d.serve(a)
	if _, err := d.sessions.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "u", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	return d
}

// serve makes a runner for an agent.
func (d *desk) serve(a agent.Agent) {
	d.t.Helper()
	r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: d.sessions, PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{d.guard.Plugin()}}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.runner = r
}

// say runs a turn, and returns its events and its error. It goes on after an error at most as often as goOn.
func (d *desk) say(text string, mode agent.StreamingMode, goOn int) (events []*session.Event, errs []error) {
	d.t.Helper()
	for ev, err := range d.runner.Run(d.t.Context(), "u", "s", genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{StreamingMode: mode}) {
		if err != nil {
			errs = append(errs, err)
			if len(errs) > goOn {
				break
			}
			continue
		}
		if !ev.Partial {
			events = append(events, ev)
		}
	}
	return events, errs
}

func (d *desk) used() guard.Usage {
	d.t.Helper()
	u, err := d.guard.Usage(d.t.Context(), d.sessions, d.ref)
	if err != nil {
		d.t.Fatal(err)
	}
	return u
}

func (d *desk) stored() session.Session {
	d.t.Helper()
	resp, err := d.sessions.Get(d.t.Context(), &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s"})
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.Session
}

// observed returns how many observations of a kind there were.
func (d *desk) observed(kind guard.ObservationKind) (n int) {
	d.t.Helper()
	if err := d.guard.Flush(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.seen {
		if o.Kind == kind {
			n++
		}
	}
	return n
}

// checkPairs fails if a stored call has no response, or a user's message is stored twice.
func (d *desk) checkPairs() {
	d.t.Helper()
	open, texts := map[string]string{}, []string{}
	for ev := range d.stored().Events().All() {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				open[p.FunctionCall.ID] = p.FunctionCall.Name
			case p.FunctionResponse != nil:
				delete(open, p.FunctionResponse.ID)
			case ev.Author == "user":
				texts = append(texts, p.Text)
			}
		}
	}
	if len(open) > 0 {
		d.t.Errorf("calls without a response: %v", open)
	}
	if slices.Sort(texts); len(slices.Compact(slices.Clone(texts))) != len(texts) {
		d.t.Errorf("messages stored twice: %q", texts)
	}
}

var modes = map[string]agent.StreamingMode{"whole": agent.StreamingModeNone, "stream": agent.StreamingModeSSE}

// agentOf makes the agent of a desk once more, with options.
func agentOf(t testing.TB, d *desk, opts ...option) agent.Agent {
	t.Helper()
	c := llmagent.Config{Name: "desk", Model: d.guard.Model(d.llm), Tools: []tool.Tool{work(t, d.ran)}}
	for _, o := range opts {
		o(d, &c)
	}
	a, err := llmagent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func responsesOf(ev *session.Event) (out []*genai.FunctionResponse) {
	if ev.Content == nil {
		return nil
	}
	for _, p := range ev.Content.Parts {
		if p.FunctionResponse != nil {
			out = append(out, p.FunctionResponse)
		}
	}
	return out
}
