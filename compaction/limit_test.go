package compaction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// words is about n tokens of text.
func words(n int) string { return strings.Repeat("word ", n) }

// TestHardLimitCompactsBeforeTheNextPrompt: in background mode too, and whatever the model does, for
// a rough summary beats a dead session.
func TestHardLimitCompactsBeforeTheNextPrompt(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for name, s := range map[string]compaction.Summarizer{
		"model answers": &compactiontest.Oracle{},
		"model fails": summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			return summarizer.Result{}, errBoom
		}),
		"model hangs": summarizerFunc(func(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
			<-ctx.Done()
			return summarizer.Result{}, ctx.Err()
		}),
		"model ignores its context": summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			<-release
			return prose("late"), nil
		}),
		"model panics": summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) { panic("boom") }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &notes{}
			cfg := compaction.DefaultConfig()
			cfg.Summarizer, cfg.Observer, cfg.ContextWindow, cfg.InvocationThreshold = s, seen.Observe, 4000, compaction.Off
			if name == "model hangs" || name == "model ignores its context" {
				cfg.Timeout = 10 * time.Millisecond
			}
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			h := &compactiontest.History{}
			for i := 1; i <= 20; i++ {
				h.User(fmt.Sprintf("inv%d", i), compactiontest.Fact(i)+" "+words(50)).Agent(fmt.Sprintf("inv%d", i), "agent", words(50))
			}
			appendAll(t, svc, sess, h.Events...)
			if n := len(seen.all()); n != 0 {
				t.Fatalf("%d observations before the limit", n)
			}
			h.User("inv21", words(2000))
			appendAll(t, svc, sess, h.Last())
			stored := seen.of(compaction.Stored)
			if len(stored) == 0 || !stored[0].Inline || stored[0].InvocationID != "inv21" {
				t.Fatalf("observations: %+v, want one stored inline", seen.all())
			}
			if answers := name == "model answers"; answers != (len(seen.of(compaction.Failed)) == 0) {
				t.Errorf("failures: %v", seen.of(compaction.Failed))
			}
			got := status(t, svc)
			if got.PromptTokens >= got.HardLimit {
				t.Errorf("the next prompt has %d tokens, the limit is %d", got.PromptTokens, got.HardLimit)
			}
			if view := eventsOf(sess); view[len(view)-1] != h.Last() {
				t.Error("the question is not the newest event of the view")
			}
			checkView(t, svc)
		})
	}
}

// TestPromptThatStaysOverTheThresholdIsNotCompactedForEveryEvent: a system prompt over the threshold
// cannot be summarized away, and every attempt costs a call.
func TestPromptThatStaysOverTheThresholdIsNotCompactedForEveryEvent(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.TokenThreshold, cfg.RetainEvents = compaction.Off, 1_000_000, 1000, 4
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(60, "agent")
	for i, ev := range h.Events {
		if ev.Author == "agent" {
			ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(5000 + 25*min(i, 8)), CandidatesTokenCount: 20}
		}
		appendAll(t, svc, sess, ev)
	}
	calls := len(oracle.Requests())
	if got := status(t, svc); got.PromptTokens < 1000 {
		t.Fatalf("the prompt has %d tokens: the test shows nothing", got.PromptTokens)
	}
	if calls == 0 || calls > len(h.Events)/5 {
		t.Errorf("%d calls for %d events", calls, len(h.Events))
	}
	wantFacts(t, eventsOf(sess), 60)
	checkView(t, svc)
}

// TestToolLoopInOneTurnStaysBounded: hundreds of rounds without a user's word between them.
func TestToolLoopInOneTurnStaysBounded(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("at most %d", limit), func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				const rounds = 60
				cfg, oracle := oracleConfig()
				cfg.InvocationThreshold, cfg.ContextWindow, cfg.TokenThreshold = compaction.Off, 1_000_000, 1500
				cfg.RetainEvents, cfg.MaxSummaries = 4, limit
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				h := (&compactiontest.History{}).User("inv", "Please collect all the codes there are.")
				appendAll(t, svc, sess, h.Last())
				for i := 1; i <= rounds; i++ {
					id := fmt.Sprintf("call%d", i)
					h.Call("inv", "agent", "lookup", id)
					appendAll(t, svc, sess, h.Last())
					h.Response("inv", "agent", "lookup", compactiontest.Fact(i)+" "+words(60), id)
					appendAll(t, svc, sess, h.Last())
					view := eventsOf(sess)
					summaries, question := 0, false
					for _, ev := range view {
						question = question || ev.ID == "e1"
						if !strings.HasPrefix(ev.ID, "e") || len(ev.ID) > 6 {
							summaries++
						}
					}
					if summaries > limit || !question {
						t.Fatalf("round %d: %d summaries are shown, question raw: %t", i, summaries, question)
					}
				}
				if n := len(oracle.Requests()); n < 3 {
					t.Fatalf("%d calls: the test shows nothing", n)
				}
				wantFacts(t, eventsOf(sess), rounds)
				wantOnce(t, svc, h.Events)
				checkView(t, svc)
			})
		})
	}
}
