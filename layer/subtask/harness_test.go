package subtask_test

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/tokens"
)

const (
	small = "gemini-2.5-flash"
	large = "gemini-2.5-pro"
)

var (
	say  = compactiontest.Say
	call = compactiontest.CallTool
)

// llm is a scripted model that records whole requests, and reports usage as estimated from them. An answer of
// nil is a failure of the model.
type llm struct {
	name   string
	answer func(n int, req *model.LLMRequest) *model.LLMResponse

	mu       sync.Mutex
	requests []string // as JSON
	usage    tokens.Usage
}

func newLLM(name string, answer func(n int, req *model.LLMRequest) *model.LLMResponse) *llm {
	return &llm{name: name, answer: answer}
}

// says is a model that gives these answers one after the other, and then the last one again.
func says(name string, answers ...*model.LLMResponse) *llm {
	return newLLM(name, func(n int, _ *model.LLMRequest) *model.LLMResponse {
		resp := *answers[min(n, len(answers)-1)]
		return &resp
	})
}

func (l *llm) Name() string { return l.name }

var errModel = errors.New("the provider is down")

func (l *llm) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		resp := l.answer(l.record(req), req)
		if resp == nil {
			yield(nil, errModel)
			return
		}
		if resp.UsageMetadata == nil {
			contents, fixed := promptsize.OfRequest(req)
			resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
				PromptTokenCount: int32(contents + fixed), CandidatesTokenCount: int32(tokens.OfContent(resp.Content)),
			}
		}
		l.mu.Lock()
		l.usage = l.usage.Add(tokens.UsageOf(resp.UsageMetadata))
		l.mu.Unlock()
		yield(resp, nil)
	}
}

func (l *llm) record(req *model.LLMRequest) int {
	text, err := json.Marshal(map[string]any{"contents": req.Contents, "config": req.Config})
	if err != nil {
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, string(text))
	return len(l.requests) - 1
}

func (l *llm) seen() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

func (l *llm) used() tokens.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage
}

// parent is an app whose agent has tools that start subtasks.
type parent struct {
	t       testing.TB
	svc     session.Service
	llm     model.LLM
	tools   []tool.Tool
	plugins []*plugin.Plugin
	change  func(*llmagent.Config)
	id      string
}

func (p *parent) send(ctx context.Context, msg *genai.Content) ([]*session.Event, error) {
	p.t.Helper()
	cfg := llmagent.Config{Name: "parent", Instruction: "You are the zebra coordinator.", Model: p.llm, Tools: p.tools}
	if p.change != nil {
		p.change(&cfg)
	}
	a, err := llmagent.New(cfg)
	must(p.t, err)
	return p.run(ctx, a, msg)
}

// run has an agent answer a message.
func (p *parent) run(ctx context.Context, a agent.Agent, msg *genai.Content) ([]*session.Event, error) {
	p.t.Helper()
	r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: p.svc, AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: p.plugins}})
	must(p.t, err)
	var events []*session.Event
	for ev, err := range r.Run(ctx, "ada", p.sessionID(), msg, agent.RunConfig{}) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

func (p *parent) sessionID() string {
	if p.id == "" {
		return "main"
	}
	return p.id
}

func (p *parent) say(text string) []*session.Event {
	p.t.Helper()
	events, err := p.send(p.t.Context(), genai.NewContentFromText(text, genai.RoleUser))
	must(p.t, err)
	return events
}

func (p *parent) get(id string) session.Session {
	p.t.Helper()
	resp, err := p.svc.Get(p.t.Context(), &session.GetRequest{AppName: "app", UserID: "ada", SessionID: id})
	must(p.t, err)
	return resp.Session
}

// children returns the IDs of the sessions of subtasks, sorted.
func (p *parent) children() []string {
	p.t.Helper()
	resp, err := p.svc.List(p.t.Context(), &session.ListRequest{AppName: "app", UserID: "ada"})
	must(p.t, err)
	var ids []string
	for _, s := range resp.Sessions {
		if _, ok := subtask.LinkOf(s); ok {
			ids = append(ids, s.ID())
		}
	}
	slices.Sort(ids)
	return ids
}

// asker is a tool of the app that runs the subtask it is asked for, and keeps the results.
type asker struct {
	r    *subtask.Runner
	spec subtask.Spec

	mu      sync.Mutex
	results []subtask.Result
	errs    []error
}

type question struct {
	Ask string `json:"ask"`
}

func (a *asker) tool(t testing.TB) tool.Tool {
	return function(t, "delegate", func(ctx agent.ToolContext, q question) (map[string]any, error) {
		spec := a.spec
		if q.Ask != "" {
			spec.Message = q.Ask
		}
		result, err := a.r.RunSubtask(ctx, spec)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.results, a.errs = append(a.results, result), append(a.errs, err)
		return map[string]any{"answer": result.Text}, err
	})
}

func (a *asker) only(t testing.TB) subtask.Result {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.results) != 1 || a.errs[0] != nil {
		t.Fatalf("results %+v, errors %v; want one without an error", a.results, a.errs)
	}
	return a.results[0]
}

func function[A, R any](t testing.TB, name string, f func(agent.ToolContext, A) (R, error)) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: name, Description: "Does " + name + "."}, f)
	must(t, err)
	return made
}

// newRunner returns a runner whose subtasks use a model.
func newRunner(t testing.TB, svc session.Service, child model.LLM, change func(*subtask.Config)) *subtask.Runner {
	t.Helper()
	cfg := subtask.Config{Service: svc, Model: child}
	if change != nil {
		change(&cfg)
	}
	r, err := subtask.New(cfg)
	must(t, err)
	return r
}

// delegating returns a parent that calls its tool once, with one question, and then answers, and the tool.
func delegating(t testing.TB, svc session.Service, child model.LLM, spec subtask.Spec, change func(*subtask.Config)) (*parent, *asker) {
	t.Helper()
	a := &asker{r: newRunner(t, svc, child, change), spec: spec}
	p := &parent{t: t, svc: svc, tools: []tool.Tool{a.tool(t)}, llm: once("delegate", map[string]any{"ask": spec.Message})}
	return p, a
}

// once is a parent's model that calls a tool in each turn, in one reply for all arguments, and then answers.
func once(name string, args ...map[string]any) *llm {
	return newLLM(large, func(_ int, req *model.LLMRequest) *model.LLMResponse {
		last := req.Contents[len(req.Contents)-1]
		for _, part := range last.Parts {
			if part.FunctionResponse != nil {
				return say("done")
			}
		}
		return call(name, args...)
	})
}

// responseOf returns the newest response of a tool in events.
func responseOf(t testing.TB, events []*session.Event, name string) map[string]any {
	t.Helper()
	for _, ev := range slices.Backward(events) {
		if ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			if part.FunctionResponse != nil && part.FunctionResponse.Name == name {
				return part.FunctionResponse.Response
			}
		}
	}
	t.Fatalf("no response of %s in %d events", name, len(events))
	return nil
}

// file is a file of n lines, line by line "line 17 of the ledger".
func file(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of the ledger holds entry %d", i+1, i*7919%10_007)
	}
	return lines
}

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
}

// pageSize is how many lines read_file returns at a time.
const pageSize = 1_000

// readFile is a read_file over files in memory.
func readFile(t testing.TB, files map[string][]string) tool.Tool {
	return function(t, "read_file", func(_ agent.ToolContext, a readArgs) (map[string]any, error) {
		lines, ok := files[a.Path]
		if !ok {
			return nil, fmt.Errorf("%s does not exist", a.Path)
		}
		from := min(max(0, a.Offset), len(lines))
		to := min(from+pageSize, len(lines))
		return map[string]any{"text": strings.Join(lines[from:to], "\n"), "next": to, "lines": len(lines)}, nil
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
