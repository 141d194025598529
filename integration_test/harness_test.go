package integration_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/artifact"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// ref is the session of every test.
var ref = compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "session"}

func getRequest() *session.GetRequest {
	return &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}
}

// app is a small application: agents, a runner, and a compacting session service.
type app struct {
	t      *testing.T
	store  storages.Storage
	mode   mode
	cfg    compaction.Config
	oracle *compactiontest.Oracle
	inner  session.Service
	svc    *compaction.CompactionSessionService
	stack  *longsession.Stack // nil unless mode.layers
	root   agent.Agent
	runner *runner.Runner
	wiring
	lenience
	talk
	actors []*actor
	ledger *ledger
	log    *journal
}

// wiring is the optional equipment of an app. The zero value is the plain app.
type wiring struct {
	// above decorates svc for the runner, if not nil.
	above func(session.Service) session.Service
	// plugins and runConfig are passed to the runner.
	plugins   []*plugin.Plugin
	runConfig agent.RunConfig
	artifacts artifact.Service
	// decorate wraps the models of agents, if not nil.
	decorate func(model.LLM) model.LLM
	// inTool is called by lookup before it returns, if not nil.
	inTool func()
	// requests is true if the context of a turn ends with the turn; see endingContexts.
	requests bool
}

// lenience lists rules that an app need not keep. Each field is documented at its option.
type lenience struct {
	unordered, strict, forgetful, unchecked bool
	// tolerates reports which errors a turn may yield, if not nil.
	tolerates func(error) bool
}

// talk is the conversation so far.
type talk struct {
	// question is the user's question in the running turn.
	question string
	// answersLate is true in a turn that the answer to an earlier call has opened.
	answersLate bool
	turns       int
	history     []stored
}

// newApp returns an application without agents; see start.
func newApp(t *testing.T, store storages.Storage, m mode, options ...option) *app {
	t.Helper()
	a := &app{t: t, store: store, mode: m, cfg: compaction.DefaultConfig(), oracle: &compactiontest.Oracle{}, ledger: &ledger{}, log: &journal{}}
	a.cfg.Summarizer = a.oracle
	a.cfg.Synchronous = m.synchronous
	a.cfg.Observer = a.log.Observe
	for _, set := range options {
		set(a)
	}
	a.inner = store.Open(t)
	return a
}

// start wraps the storage, creates the session and the runner.
func (a *app) start(root agent.Agent) *app {
	a.t.Helper()
	a.root = root
	if _, err := a.inner.Create(a.t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		a.t.Fatal(err)
	}
	a.wrap()
	return a
}

// wrap creates a new service and a new runner over the storage.
func (a *app) wrap() {
	a.t.Helper()
	svc, err := a.wrapped()
	if err != nil {
		a.t.Fatal(err)
	}
	a.svc = svc
	a.t.Cleanup(func() { _ = svc.Close(context.Background()) })
	var service session.Service = svc
	if a.above != nil {
		service = a.above(service)
	}
	a.useRunner(service)
}

// wrapped puts the compaction service over the storage, or all layers.
func (a *app) wrapped() (*compaction.CompactionSessionService, error) {
	if !a.mode.layers {
		return compaction.NewCompactionService(a.inner, a.cfg)
	}
	stack, err := longsession.New(a.inner, longsession.Config{Compaction: a.cfg})
	if err != nil {
		return nil, err
	}
	a.stack = stack
	return stack.Sessions, nil
}

// inLayers wraps a model in the layers of mode.layers.
func (a *app) inLayers(llm model.LLM) model.LLM {
	if !a.mode.layers {
		return llm
	}
	if live, ok := llm.(liveModel); ok {
		return liveModel{inStack{live.LLM, a}, live.client}
	}
	return inStack{llm, a}
}

// inStack is a model within the layers of the app's present stack, which may be opened anew.
type inStack struct {
	model.LLM
	a *app
}

func (m inStack) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return m.a.stack.Model(m.LLM).GenerateContent(ctx, req, stream)
}

func (a *app) pluginConfig() runner.PluginConfig {
	if a.stack != nil {
		return a.stack.PluginConfig(a.plugins...)
	}
	return runner.PluginConfig{Plugins: a.plugins}
}

func (a *app) useRunner(service session.Service) {
	a.t.Helper()
	r, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: a.root, SessionService: service, PluginConfig: a.pluginConfig(),
		ArtifactService: a.artifacts,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	a.runner = r
}

// reopen closes the service and reopens everything over the same storage, as another process would.
func (a *app) reopen() {
	a.t.Helper()
	if err := a.svc.Close(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	a.inner = a.store.Open(a.t)
	a.wrap()
}

// ask runs one turn with a new fact in the question.
func (a *app) ask() []*session.Event {
	a.t.Helper()
	fact := compactiontest.Fact(a.ledger.number())
	a.ledger.nextTurn()
	a.ledger.tell(fact, "", "user")
	question := fmt.Sprintf("Question %d: please note that the code for item %d is %s; we will come back to it in a while.", a.turns+1, a.turns+1, fact)
	a.question = question
	return a.send(genai.NewContentFromText(question, genai.RoleUser))
}

// send runs one turn with the given message, and fails the test unless the turn follows the actors'
// plans.
func (a *app) send(msg *genai.Content, opts ...runner.RunOption) []*session.Event {
	a.t.Helper()
	a.turns++
	a.answersLate = msg != nil && endsWithResponse([]*genai.Content{msg})
	a.history = append(a.history, storedMessage(msg))
	var events []*session.Event
	ctx, end := a.t.Context(), func() {}
	if a.requests {
		ctx, end = context.WithCancel(ctx)
	}
	defer end()
	for ev, err := range a.runner.Run(ctx, ref.UserID, ref.SessionID, msg, a.runConfig, opts...) {
		if err != nil && a.tolerates != nil && a.tolerates(err) {
			continue
		}
		if err != nil {
			a.t.Fatalf("turn %d: %v", a.turns, err)
		}
		events = append(events, ev)
		if !ev.Partial {
			a.history = append(a.history, storedEvent(ev))
		}
	}
	end()
	for _, x := range a.actors {
		if n := x.unplayed(); n > 0 {
			a.t.Errorf("turn %d: %s was asked %d times less than its script expects", a.turns, x.name, n)
		}
	}
	if a.t.Failed() {
		a.t.FailNow()
	}
	if a.mode.flushed {
		a.flush()
	}
	if a.mode.reopened > 0 && a.turns%a.mode.reopened == 0 {
		a.reopen()
	}
	return events
}

// journal is an observer that records observations.
type journal struct {
	mu   sync.Mutex
	seen []compaction.Observation
}

func (j *journal) Observe(_ context.Context, o compaction.Observation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen = append(j.seen, o)
}

// of returns the observations with the given outcome.
func (j *journal) of(outcome compaction.Outcome) []compaction.Observation {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []compaction.Observation
	for _, o := range j.seen {
		if o.Outcome == outcome {
			out = append(out, o)
		}
	}
	return out
}

// String lists the observations for failure messages.
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var b strings.Builder
	for _, o := range j.seen {
		fmt.Fprintf(&b, "%s %s branch=%q events=%d tokens=%d->%d %s %v\n", o.Outcome, o.Trigger, o.Branch, o.Events, o.TokensBefore, o.TokensAfter, o.Reason, o.Err)
	}
	return b.String()
}
