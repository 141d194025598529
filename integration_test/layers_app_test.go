package integration_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// toolApp is an app whose agents call tools with large results, over every layer of a stack.
type toolApp struct {
	t      *testing.T
	store  storages.Storage
	cfg    longsession.Config
	build  func(a *toolApp) agent.Agent
	window int
	// bare leaves the stack out.
	bare bool
	// loose allows requests that end with a turn of the model, as those of loops do without any layer.
	loose  bool
	stream agent.StreamingMode
	// plugins are the app's own; more changes each agent, if not nil.
	plugins []*plugin.Plugin
	more    func(*llmagent.Config)
	above   func(session.Service) session.Service
	// decorate wraps the storage below the stack, if not nil.
	decorate func(session.Service) session.Service
	// leaky leaves the stack open at the end: a part of it hangs for ever.
	leaky bool

	inner   session.Service
	stack   *longsession.Stack
	runner  *runner.Runner
	workers []*worker
	turns   int
	seen    seen
}

// seen is what a test knows about all requests and tool calls of an app.
type seen struct {
	mu sync.Mutex
	// results are the whole results by their reference, as the tools returned them.
	results map[string]string
	// refs are the references that a model saw, in order, and read what it read back.
	refs     []string
	read     map[string]string
	requests []string // each as JSON, with its config
	largest  int
	dumps    atomic.Int32
	// catalogRuns counts runs of tools of the catalog.
	catalogRuns atomic.Int32
}

// newToolApp returns an app that is not started. change may be nil.
func newToolApp(t *testing.T, store storages.Storage, build func(*toolApp) agent.Agent, change func(*toolApp)) *toolApp {
	t.Helper()
	a := &toolApp{t: t, store: store, build: build, window: 32_000}
	a.seen.results, a.seen.read = map[string]string{}, map[string]string{}
	a.cfg.Compaction = compaction.DefaultConfig() // by turns: as many summaries as can be
	a.cfg.Compaction.Summarizer = &compactiontest.Oracle{}
	a.cfg.Compaction.Synchronous = true
	a.cfg.Masking = toolresult.Masking{KeepFirst: 1, KeepLast: 2, BatchTokens: 1_500}
	if change != nil {
		change(a)
	}
	a.open()
	if _, err := a.inner.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	return a
}

// open opens the storage and puts a new stack, new agents and a new runner over it, as a new process would.
func (a *toolApp) open() {
	a.t.Helper()
	a.inner = a.store.Open(a.t)
	if a.decorate != nil {
		a.inner = a.decorate(a.inner)
	}
	service, plugins := a.inner, runner.PluginConfig{Plugins: a.plugins}
	if !a.bare {
		a.cfg.Compaction.ContextWindow = a.window
		stack, err := longsession.New(a.inner, a.cfg)
		if err != nil {
			a.t.Fatal(err)
		}
		a.stack = stack
		if !a.leaky {
			a.t.Cleanup(func() { _ = stack.Close(context.Background()) })
		}
		service, plugins = stack.Sessions, stack.PluginConfig(a.plugins...)
	}
	if a.above != nil {
		service = a.above(service)
	}
	a.workers = nil
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: a.build(a), SessionService: service, PluginConfig: plugins})
	if err != nil {
		a.t.Fatal(err)
	}
	a.runner = r
}

// reopen closes the stack and opens everything again over the same storage.
func (a *toolApp) reopen() {
	a.t.Helper()
	if a.stack != nil {
		if err := a.stack.Close(a.t.Context()); err != nil {
			a.t.Fatal(err)
		}
	}
	a.open()
}

// agent is an agent whose model is a new worker. change may be nil.
func (a *toolApp) agent(name string, change func(*llmagent.Config, *worker)) agent.Agent {
	a.t.Helper()
	w := &worker{a: a, name: name, rounds: 3, wide: 1, reads: true, next: 1000 * len(a.workers)}
	a.workers = append(a.workers, w)
	cfg := llmagent.Config{
		Name: name, Description: "Plays " + name + ".", Instruction: "You work through files.",
		Model: a.model(w), Tools: []tool.Tool{a.dump()},
	}
	if change != nil {
		change(&cfg, w)
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

func (a *toolApp) model(llm model.LLM) model.LLM {
	if a.bare {
		return llm
	}
	return a.stack.Model(llm)
}

// ask runs one turn, which must not fail.
func (a *toolApp) ask(text string) []*session.Event {
	a.t.Helper()
	events, err := a.tryAsk(a.t.Context(), text)
	if err != nil {
		a.t.Fatalf("turn %d: %v", a.turns, err)
	}
	if a.t.Failed() {
		a.t.FailNow()
	}
	return events
}

// tryAsk runs one turn and returns its first error.
func (a *toolApp) tryAsk(ctx context.Context, text string) ([]*session.Event, error) {
	a.turns++
	var events []*session.Event
	for ev, err := range a.runner.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{StreamingMode: a.stream}) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// play runs n turns.
func (a *toolApp) play(n int) *toolApp {
	a.t.Helper()
	for range n {
		a.ask("Please go on with the next files, and note what you find.")
	}
	return a
}
