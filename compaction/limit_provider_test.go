package compaction_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// provider counts prompts as its own tokenizer does: so many tokens for each one estimated, and so many
// for the system prompt and the tools.
type provider struct {
	ratio    float64
	overhead int
}

func estimateOf(events ...*session.Event) int {
	sum := 0
	for _, ev := range events {
		sum += promptsize.OfEvent(ev)
	}
	return sum
}

func (p provider) prompt(view []*session.Event) int {
	return p.overhead + int(math.Ceil(p.ratio*float64(estimateOf(view...))))
}

// loop is one turn of many tool rounds, in which the provider counts every prompt.
type loop struct {
	t        *testing.T
	svc      *compaction.CompactionSessionService
	sess     session.Session
	provider provider
	history  compactiontest.History
	rounds   int
	largest  int // prompt, as the provider counts it
	// appended is called after every append, before the next prompt is built.
	appended func()
}

func newLoop(t *testing.T, svc *compaction.CompactionSessionService, p provider) *loop {
	l := &loop{t: t, svc: svc, sess: create(t, svc), provider: p, appended: func() {}}
	l.history.User("inv", "Please collect all the codes there are.")
	l.append()
	return l
}

// append stores the newest event at the present time: it is what a report's age is told by.
func (l *loop) append() {
	l.history.Last().Timestamp = time.Now()
	appendAll(l.t, l.svc, l.sess, l.history.Last())
	l.appended()
}

// round is one prompt, the call it leads to, and a result of about so many tokens that holds a new fact.
func (l *loop) round(size int) {
	l.rounds++
	prompt := l.provider.prompt(eventsOf(l.sess))
	l.largest = max(l.largest, prompt)
	id := fmt.Sprint("call", l.rounds)
	call := l.history.Call("inv", "agent", "lookup", id).Last()
	call.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount:     int32(prompt),
		CandidatesTokenCount: int32(l.provider.ratio * float64(estimateOf(call))),
	}
	l.append()
	l.history.Response("inv", "agent", "lookup", compactiontest.Fact(l.rounds)+" "+words(size), id)
	l.append()
}

// run plays so many rounds with results of 200 to 1,500 tokens.
func (l *loop) run(rounds int) {
	sizes := rand.New(rand.NewPCG(5, 8))
	for range rounds {
		l.round(200 + sizes.IntN(1301))
	}
}

// check compares the loop with what was stored and is shown.
func (l *loop) check() {
	l.t.Helper()
	wantFacts(l.t, eventsOf(l.sess), l.rounds)
	wantOnce(l.t, l.svc, l.history.Events)
	wantCoveredOnce(l.t, l.svc)
	checkView(l.t, l.svc)
}

// costly counts half as much again as the estimate, as providers have been seen to.
var costly = provider{ratio: 1.5, overhead: 3000}

// TestNoPromptExceedsTheWindowAsTheProviderCountsIt: estimates are a third too low, and only the
// provider's reports can tell.
func TestNoPromptExceedsTheWindowAsTheProviderCountsIt(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct{ synchronous, atTheLimit bool }{
		"inline":                  {synchronous: true},
		"in the background":       {},
		"at the hard limit alone": {atTheLimit: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &notes{}
			cfg, _ := oracleConfig()
			cfg.Synchronous, cfg.Observer = r.synchronous, seen.Observe
			cfg.InvocationThreshold, cfg.ContextWindow = compaction.Off, 16_000
			if r.atTheLimit {
				cfg.SafetyRatio = 0.979 // just under the hard limit
			}
			svc := newService(t, session.InMemoryService(), cfg)
			l := newLoop(t, svc, costly)
			if !r.synchronous {
				l.appended = func() { flush(t, svc) }
			}
			l.run(300)
			stored := len(seen.of(compaction.Stored))
			if l.largest < cfg.ContextWindow*3/4 || stored < 10 {
				t.Fatalf("prompts of up to %d tokens, %d compactions: the test shows nothing", l.largest, stored)
			}
			if l.largest > cfg.ContextWindow {
				t.Errorf("a prompt of %d tokens went out, the window is %d", l.largest, cfg.ContextWindow)
			}
			l.check()
		})
	}
}
