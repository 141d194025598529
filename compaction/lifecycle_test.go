package compaction_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestMain fails the package when a job outlives the service that started it.
func TestMain(m *testing.M) {
	testkit.Quiet()
	goleak.VerifyTestMain(m)
}

// ended is a context whose end has come.
func ended(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestFlushWaitsForJobsUnderWayAndInLine(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		summaries := newGated()
		cfg := compaction.DefaultConfig()
		cfg.Summarizer = summaries
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		events := turns(30)
		appendAll(t, svc, sess, events[:10]...)
		<-summaries.asked
		appendAll(t, svc, sess, events[10:]...) // a job gets in line
		if err := svc.Flush(ended(t), ref); !errors.Is(err, context.Canceled) {
			t.Errorf("Flush beside a job: %v, want it to wait for its context", err)
		}
		if !status(t, svc).Running {
			t.Error("status says that nothing runs")
		}
		close(summaries.open)
		flush(t, svc)
		got := status(t, svc)
		if got.Due || got.Running || len(got.Summaries) == 0 || len(got.Summaries) > cfg.MaxSummaries {
			t.Errorf("after Flush: %+v", got)
		}
		if raw := got.VisibleEvents - len(got.Summaries); raw > 2*(cfg.InvocationThreshold+cfg.OverlapSize) {
			t.Errorf("%d events are raw after Flush", raw)
		}
		wantFacts(t, eventsOf(sess), 30)
		wantOnce(t, svc, events)
		checkView(t, svc)
	})
}

// TestFlushDrainsWhatWasThereBefore: a session that an earlier process left with a backlog. Windows
// follow each other, and merges keep the summaries bounded.
func TestFlushDrainsWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		appendAll(t, inner, create(t, inner), turns(80)...)
		seen := &notes{}
		cfg, _ := oracleConfig()
		cfg.Synchronous, cfg.MaxSummaries, cfg.Observer = false, 3, seen.Observe
		cfg.Summarizer = &limited{max: 400}
		svc := newService(t, inner, cfg)
		if !status(t, svc).Due {
			t.Fatal("nothing is due")
		}
		flush(t, svc)
		merges := 0
		for _, o := range seen.of(compaction.Stored) {
			if o.Trigger == "merge" {
				merges++
			}
		}
		if n := len(summariesIn(t, svc)); n == 0 || n > 3 || merges == 0 {
			t.Errorf("%d summaries after %d merges", n, merges)
		}
		if status(t, svc).Due {
			t.Error("something is still due")
		}
		wantFacts(t, eventsOf(get(t, svc)), 80)
		checkView(t, svc)
		before := len(seen.all())
		flush(t, svc)
		if after := len(seen.all()); after != before {
			t.Error("Flush did something though nothing was due")
		}
	})
}

func TestFlushReturnsWithoutSessionAndWithoutSuccess(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		cfg.Synchronous = false
		cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			return summarizer.Result{}, errBoom
		})
		svc := newService(t, inner, cfg)
		flush(t, svc)
		appendAll(t, svc, create(t, svc), turns(10)...)
		for range 5 {
			flush(t, svc)
		}
		if got := status(t, svc); got.Failures < 3 || got.RetryAt.IsZero() {
			t.Errorf("after five flushes: %d failures, retry at %v", got.Failures, got.RetryAt)
		}
	})
}

func TestCloseDrainsAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		summaries := newGated()
		cfg := compaction.DefaultConfig()
		cfg.Summarizer = summaries
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		events := turns(20)
		appendAll(t, svc, sess, events[:10]...)
		<-summaries.asked
		close(summaries.open)
		if err := svc.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(records(t, rawEvents(t, svc))); n != 1 {
			t.Errorf("%d records after Close, want 1", n)
		}
		before := len(summaries.Requests())
		appendAll(t, svc, sess, events[10:]...)
		flush(t, svc)
		if after := len(summaries.Requests()); after != before {
			t.Errorf("%d summaries were written after Close", after-before)
		}
		wantOnce(t, svc, events)
		wantFacts(t, eventsOf(sess), 20)
		wantFacts(t, eventsOf(get(t, svc)), 20)
		if err := svc.Close(t.Context()); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}

func TestCloseCancelsJobsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		summaries, seen := newGated(), &notes{}
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Observer = summaries, seen.Observe
		svc := newService(t, inner, cfg)
		events := turns(5)
		appendAll(t, svc, create(t, svc), events...)
		<-summaries.asked // and never answered
		if err := svc.Close(ended(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("Close: %v, want its context's error", err)
		}
		if err := svc.Close(t.Context()); err != nil { // returns because the job was canceled
			t.Errorf("Close again: %v", err)
		}
		if given := seen.of(compaction.Declined); len(given) != 1 || !strings.Contains(given[0].Reason, context.Canceled.Error()) {
			t.Errorf("given up: %+v", given)
		}
		if failed := seen.of(compaction.Failed); len(failed) != 0 {
			t.Errorf("a canceled job counts as a failing summarizer: %+v", failed)
		}
		wantOnce(t, svc, events)
		if view := eventsOf(get(t, svc)); len(view) != 10 {
			t.Errorf("the view shows %d of 10 events", len(view))
		}
	})
}

// TestJobOutlivesTheTurnsContext: the runner cancels a turn's context when the turn is over.
func TestJobOutlivesTheTurnsContext(t *testing.T) {
	t.Parallel()
	summaries := newGated()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summaries
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	ctx, cancel := context.WithCancel(t.Context())
	for _, ev := range turns(5) {
		if err := svc.AppendEvent(ctx, sess, ev); err != nil {
			t.Fatal(err)
		}
	}
	<-summaries.asked
	cancel()
	close(summaries.open)
	flush(t, svc)
	if n := len(summariesIn(t, svc)); n != 1 {
		t.Errorf("%d summaries, want 1", n)
	}
}
