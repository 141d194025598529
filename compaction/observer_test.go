package compaction_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestEveryStartIsFollowedByOneOutcome, whatever the summarizer does.
func TestEveryStartIsFollowedByOneOutcome(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, oracle := oracleConfig()
	cfg.Observer, cfg.MaxSummaries = seen, 2
	var n atomic.Int32
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		switch n.Add(1) % 7 {
		case 2:
			return summarizer.Result{}, errBoom
		case 3:
			panic("boom")
		case 5:
			return prose(words(2000)), nil
		default:
			return oracle.Summarize(ctx, req)
		}
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(60)...)
	open, times := false, map[compaction.Outcome]int{}
	for i, o := range seen.all() {
		times[o.Outcome]++
		if o.Session != ref {
			t.Errorf("observation %d is of %v", i, o.Session)
		}
		switch o.Outcome {
		case compaction.Started:
			if open {
				t.Errorf("observation %d: started while another is open", i)
			}
			if o.Events == 0 || o.TokensBefore == 0 {
				t.Errorf("observation %d does not say what is replaced: %+v", i, o)
			}
			open = true
			continue
		case compaction.Stored:
			if o.RecordID == "" || o.TokensAfter == 0 || o.TokensAfter > o.TokensBefore {
				t.Errorf("observation %d: %+v", i, o)
			}
		case compaction.Failed:
			if !errors.Is(o.Err, compaction.ErrCompaction) {
				t.Errorf("observation %d: %v", i, o.Err)
			}
		default:
			if o.Reason == "" {
				t.Errorf("observation %d gives no reason: %+v", i, o)
			}
		}
		if !open && o.Outcome != compaction.Declined {
			t.Errorf("observation %d: %s without a start", i, o.Outcome)
		}
		open = false
	}
	if open {
		t.Error("the last start has no outcome")
	}
	if times[compaction.Stored] < 2 || times[compaction.Failed] < 2 || times[compaction.Declined] < 1 {
		t.Errorf("%v: the test shows too little", times)
	}
	checkView(t, svc)
}

func TestPanicInObserverIsHarmless(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	told := 0
	cfg.Observer = compaction.ObserverFunc(func(context.Context, compaction.Observation) {
		told++
		panic("boom")
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(12)...)
	if told == 0 || len(summariesIn(t, svc)) == 0 {
		t.Errorf("told %d times, %d summaries", told, len(summariesIn(t, svc)))
	}
	checkView(t, svc)
}

// TestPanicInPinIsHarmless: the turn goes on, nothing is hidden, and it is reported.
func TestPanicInPinIsHarmless(t *testing.T) {
	t.Parallel()
	for _, synchronous := range []bool{true, false} {
		seen := &notes{}
		cfg, oracle := oracleConfig()
		cfg.Synchronous, cfg.Observer = synchronous, seen
		cfg.Pin = func(*session.Event) bool { panic("boom") }
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		appendAll(t, svc, sess, turns(6)...)
		if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); !errors.Is(err, compaction.ErrCompaction) {
			t.Errorf("Compact: %v", err)
		}
		for name, call := range map[string]func() error{
			"Flush":  func() error { return svc.Flush(t.Context(), ref) },
			"Status": func() error { _, err := svc.Status(t.Context(), ref); return err },
		} {
			func() {
				defer func() {
					if cause := recover(); cause != nil {
						t.Errorf("%s panics: %v", name, cause)
					}
				}()
				if err := call(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}()
		}
		if failed := seen.of(compaction.Failed); len(failed) == 0 {
			t.Error("nobody was told")
		}
		if view := eventsOf(sess); len(view) != 12 || len(oracle.Requests()) != 0 {
			t.Errorf("%d of 12 events are shown, %d summaries were written", len(view), len(oracle.Requests()))
		}
	}
}
