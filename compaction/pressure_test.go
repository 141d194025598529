package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestTurnAtTheHardLimitDoesNotWaitForAWholeBacklog: a background job is busy with an old backlog and
// a slow model; the turn waits for one window at most, once, and its prompt is made smaller.
func TestTurnAtTheHardLimitDoesNotWaitForAWholeBacklog(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	backlog := (&compactiontest.History{}).Turns(60, "agent")
	appendAll(t, inner, create(t, inner), backlog.Events...)

	oracle := &compactiontest.Oracle{}
	seen := &notes{}
	release := make(chan struct{})
	asked := make(chan struct{}, 1000)
	cfg := compaction.DefaultConfig()
	cfg.ContextWindow, cfg.Observer = 2000, seen.Observe
	cfg.Timeout = 200 * time.Millisecond
	cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		asked <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
			return summarizer.Result{}, ctx.Err()
		}
		return oracle.Summarize(ctx, req)
	})
	svc := newService(t, inner, cfg)
	sess := get(t, svc)
	h := (&compactiontest.History{Events: backlog.Events}).Turn("new", "agent", "Question: one more?", "Answer: one more.")
	appendAll(t, svc, sess, h.Events[len(h.Events)-2:]...) // over the limit: what stands there is summarized now
	<-asked
	status, err := svc.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if status.PromptTokens >= status.HardLimit || len(seen.of(compaction.Stored)) == 0 {
		t.Errorf("prompt of %d tokens, hard limit %d, %d stored", status.PromptTokens, status.HardLimit, len(seen.of(compaction.Stored)))
	}
	close(release)
	checkView(t, svc)
}

// TestClientsThatHangUpAreNoFailingSummarizer: a request whose context ends while it waits for a
// compaction says nothing about the summarizer, which is asked again at the next occasion.
func TestClientsThatHangUpAreNoFailingSummarizer(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	var hangUp atomic.Pointer[context.CancelFunc]
	cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		if cancel := hangUp.Load(); cancel != nil {
			(*cancel)()
			<-ctx.Done()
			return summarizer.Result{}, ctx.Err()
		}
		return oracle.Summarize(ctx, req)
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(12, "agent")
	for _, ev := range h.Events[:20] {
		ctx, cancel := context.WithCancel(t.Context())
		hangUp.Store(&cancel)
		if err := svc.AppendEvent(ctx, sess, ev); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	hangUp.Store(nil)
	appendAll(t, svc, sess, h.Events[20:]...)
	if err := svc.Flush(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	status, err := svc.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if status.Failures != 0 || len(status.Summaries) == 0 {
		t.Errorf("%d failures, %d summaries: %v", status.Failures, len(status.Summaries), status.LastError)
	}
}

// TestPromptIsMeasuredAnewWhenOneEventBecomesOneSummary: the view is as long as before, and much
// smaller.
func TestPromptIsMeasuredAnewWhenOneEventBecomesOneSummary(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold = compaction.Off
	cfg.ContextWindow, cfg.TokenThreshold, cfg.RetainEvents = 10_000, 2_000, 1
	pasted := func(ev *session.Event) bool { return ev.ID != "e1" }
	cfg.Pin = pasted
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).User("inv1", compactiontest.Fact(1)+strings.Repeat(" a long paste", 900))
	for i := 2; i < 12; i++ {
		h.Turn(fmt.Sprintf("inv%d", i), "agent", "And now?", "Nothing new.")
	}
	appendAll(t, svc, sess, h.Events...)
	if n := len(oracle.Requests()); n != 1 {
		t.Errorf("%d summaries were written, want the one that was due", n)
	}
}

// TestNothingToSummarizeIsNotLookedForAtEveryEvent: over the threshold with everything pinned.
func TestNothingToSummarizeIsNotLookedForAtEveryEvent(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold = compaction.Off
	cfg.ContextWindow, cfg.TokenThreshold, cfg.Observer = 1_000_000, 1_000, seen.Observe
	cfg.Pin = func(*session.Event) bool { return true }
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), (&compactiontest.History{}).Turns(1000, "agent").Events...)
	if n := len(seen.of(compaction.Declined)); n == 0 || n > 600 {
		t.Errorf("%d of 2,000 events led to a look, want one for every hundredth that the prompt grows", n)
	}
	if status, err := svc.Status(t.Context(), ref); err != nil || errors.Is(status.LastError, compaction.ErrCompaction) {
		t.Errorf("status %+v, %v", status, err)
	}
}

// TestQuietEndsOnceThePromptHasBeenSmall: a look that found nothing must not hold back the next one
// once something else made the prompt small.
func TestQuietEndsOnceThePromptHasBeenSmall(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold = compaction.Off
	cfg.ContextWindow, cfg.TokenThreshold = 1_000_000, 1_000
	var pinned atomic.Bool
	pinned.Store(true)
	cfg.Pin = func(*session.Event) bool { return pinned.Load() }
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(120, "agent")
	appendAll(t, svc, sess, h.Events[:120]...) // far over the threshold, and nothing to be done
	pinned.Store(false)
	if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	before := len(oracle.Requests())
	appendAll(t, svc, sess, h.Events[120:200]...)
	if len(oracle.Requests()) == before {
		t.Error("the prompt went over the threshold again, and nobody looked")
	}
}
