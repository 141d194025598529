package databases_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/summarizer"
)

const (
	appName   = "app"
	userID    = "user"
	agentName = "assistant"
)

func refTo(sessionID string) compaction.SessionRef {
	return compaction.SessionRef{AppName: appName, UserID: userID, SessionID: sessionID}
}

// app is an agent over a session service. A turn states a fact, and sets one state key with the
// user's message and another with the answer. Turns must not overlap.
type app struct {
	sessions session.Service
	// compacting is the wrapper, nil for ADK alone.
	compacting *compaction.CompactionSessionService
	runner     *runner.Runner
	writer     *writer
	seen       *outcomes
	// install prepares the app's database, where it is PostgreSQL.
	install func(context.Context) error
	// asked is called before the model answers, if not nil.
	asked func()

	turn  int
	facts []string // in the newest request to the model
}

// newApp returns an app over ADK's service. Compaction runs in the background unless bare is true.
func newApp(inner session.Service, bare bool, change func(*compaction.Config)) (*app, error) {
	a := &app{sessions: inner, writer: &writer{}, seen: &outcomes{count: map[compaction.Outcome]int{}}}
	if !bare {
		cfg := compaction.DefaultConfig()
		cfg.InvocationThreshold, cfg.OverlapSize, cfg.ContextWindow = 2, 1, 128_000
		cfg.Summarizer, cfg.Observer = a.writer, a.seen.Observe
		if change != nil {
			change(&cfg)
		}
		svc, err := compaction.NewCompactionService(inner, cfg)
		if err != nil {
			return nil, err
		}
		a.compacting, a.sessions = svc, svc
	}
	root, err := llmagent.New(llmagent.Config{
		Name:  agentName,
		Model: compactiontest.NewModel("model", a.answer),
		BeforeModelCallbacks: []llmagent.BeforeModelCallback{
			func(ctx agent.CallbackContext, _ *model.LLMRequest) (*model.LLMResponse, error) {
				return nil, ctx.State().Set(answeredKey(a.turn), a.turn)
			},
		},
	})
	if err != nil {
		return nil, err
	}
	a.runner, err = runner.New(runner.Config{AppName: appName, Agent: root, SessionService: a.sessions})
	return a, err
}

func askedKey(turn int) string    { return fmt.Sprintf("asked-%d", turn) }
func answeredKey(turn int) string { return fmt.Sprintf("answered-%d", turn) }

func (a *app) answer(_ int, req *model.LLMRequest) *model.LLMResponse {
	a.facts = histories.FactsInContents(req.Contents)
	if a.asked != nil {
		a.asked()
	}
	return compactiontest.Say("I have noted " + compactiontest.Fact(a.turn) + " and will come back to it when you ask.")
}

// take runs one turn.
func (a *app) take(ctx context.Context, sessionID string, turn int) error {
	return a.say(ctx, sessionID, turn, fmt.Sprintf("The code for item %d is %s. %s", turn, compactiontest.Fact(turn), strings.Repeat("Please keep it in mind. ", 4)))
}

// say runs one turn in which the user says something.
func (a *app) say(ctx context.Context, sessionID string, turn int, text string) error {
	a.turn, a.facts = turn, nil
	delta := runner.WithStateDelta(map[string]any{askedKey(turn): turn})
	for _, err := range a.runner.Run(ctx, userID, sessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}, delta) {
		if err != nil {
			return err
		}
	}
	return nil
}

// writer is a summarizer that keeps every fact and takes 1 to 20 ms.
type writer struct {
	oracle compactiontest.Oracle
	calls  atomic.Int32
}

func (w *writer) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	n := time.Duration(w.calls.Add(1))
	select {
	case <-time.After((1 + 7*n%20) * time.Millisecond):
	case <-ctx.Done():
		return summarizer.Result{}, ctx.Err()
	}
	return w.oracle.Summarize(ctx, req)
}

// outcomes is an observer that counts outcomes.
type outcomes struct {
	mu    sync.Mutex
	count map[compaction.Outcome]int
	errs  []string
}

func (o *outcomes) Observe(_ context.Context, seen compaction.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count[seen.Outcome]++
	if seen.Err != nil {
		o.errs = append(o.errs, seen.Err.Error())
	}
}

func (o *outcomes) of(outcome compaction.Outcome) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count[outcome]
}

// failures returns the failures since its last call.
func (o *outcomes) failures() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	errs := o.errs
	o.errs = nil
	return errs
}
