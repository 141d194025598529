package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestEveryStartIsFollowedByOneOutcome, whatever the summarizer does.
func TestEveryStartIsFollowedByOneOutcome(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, oracle := oracleConfig()
	cfg.Observer, cfg.MaxSummaries = seen.Observe, 2
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
	cfg.Observer = func(context.Context, compaction.Observation) {
		told++
		panic("boom")
	}
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
		cfg.Synchronous, cfg.Observer = synchronous, seen.Observe
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

// TestObserverMayUseTheSession: no lock is held while it is told, or it would wait for itself.
func TestObserverMayUseTheSession(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		var svc *compaction.CompactionSessionService
		cfg, oracle := oracleConfig()
		cfg.Synchronous = false
		calls := 0
		cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
			if calls++; calls == 1 {
				return summarizer.Result{}, errBoom
			}
			return oracle.Summarize(ctx, req)
		})
		told := map[compaction.Outcome]bool{}
		extra := (&compactiontest.History{}).Turns(40, "agent").Events[20:]
		cfg.Observer = func(ctx context.Context, o compaction.Observation) {
			if told[o.Outcome] {
				return
			}
			told[o.Outcome] = true
			resp, err := svc.Get(ctx, getRequest())
			if err != nil {
				t.Errorf("Get at %s: %v", o.Outcome, err)
				return
			}
			if _, err := svc.Status(ctx, ref); err != nil {
				t.Errorf("Status at %s: %v", o.Outcome, err)
			}
			ev := extra[0]
			extra = extra[1:]
			if err := svc.AppendEvent(ctx, resp.Session, ev); err != nil {
				t.Errorf("AppendEvent at %s: %v", o.Outcome, err)
			}
		}
		svc = newService(t, inner, cfg)
		create(t, svc)
		for i := range 10 {
			appendAll(t, svc, get(t, svc), turns(10)[2*i:2*i+2]...)
			flush(t, svc)
		}
		if !told[compaction.Started] || !told[compaction.Stored] || !told[compaction.Failed] {
			t.Errorf("told of %v only", told)
		}
		checkView(t, svc)
	})
}

// TestObservationsComeInOrder: for one session one call at a time, every start followed by its outcome,
// whoever does the work.
func TestObservationsComeInOrder(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	cfg.Synchronous, cfg.MaxSummaries = false, 2
	var inside atomic.Int32
	seen := &notes{}
	cfg.Observer = func(ctx context.Context, o compaction.Observation) {
		if inside.Add(1) > 1 {
			t.Errorf("%s is told beside another", o.Outcome)
		}
		seen.Observe(ctx, o)
		inside.Add(-1)
	}
	svc := newService(t, session.InMemoryService(), cfg)
	sess, events := create(t, svc), turns(60)
	for round := range 6 {
		var people sync.WaitGroup
		for range 3 {
			people.Go(func() {
				if _, err := svc.Compact(context.WithoutCancel(t.Context()), ref, compaction.CompactOptions{KeepRecent: 1}); err != nil {
					t.Errorf("Compact: %v", err)
				}
			})
		}
		appendAll(t, svc, sess, events[20*round:20*round+20]...)
		people.Wait()
		flush(t, svc) // 10 turns in a round: at least one window is due, whoever comes first
	}
	started := false
	for i, o := range seen.all() {
		if alone := o.Outcome == compaction.Declined && o.Events == 0; !alone && started == (o.Outcome == compaction.Started) {
			t.Fatalf("observation %d is %s, started before: %v", i, o.Outcome, started)
		}
		started = o.Outcome == compaction.Started
	}
	if n := len(seen.of(compaction.Stored)); n < 5 {
		t.Errorf("%d stored: the test shows too little", n)
	}
}

// TestUnreadableRecordIsReportedOnce: raw turns that stay in the prompt have a reason that somebody can see.
func TestUnreadableRecordIsReportedOnce(t *testing.T) {
	t.Parallel()
	broken := map[string]struct {
		change func(fields map[string]any) any
		says   string
	}{
		"future":    {func(f map[string]any) any { f["version"] = 2.0; return f }, "version 2"},
		"truncated": {func(f map[string]any) any { return jsonOf(t, f)[:40] }, "JSON"},
		"forged":    {func(f map[string]any) any { f["covered"] = "everything"; return f }, "covered"},
	}
	eachBackend(t, func(t *testing.T, inner session.Service) {
		seen := &notes{}
		cfg, _ := oracleConfig()
		cfg.Observer = seen.Observe
		svc := newService(t, inner, cfg)
		h := (&compactiontest.History{}).Turns(4, "agent")
		appendAll(t, svc, create(t, svc), h.Events...)
		sess := get(t, inner)
		for name, b := range broken {
			ev := h.Record("record "+name, "e1", "e2")
			fields, _ := ev.CustomMetadata[record.Key].(map[string]any)
			ev.ID, ev.CustomMetadata = name, map[string]any{record.Key: b.change(maps.Clone(fields))}
			appendAll(t, inner, sess, ev)
		}
		again := get(t, svc)
		appendAll(t, svc, again, turns(12)[8:]...)
		compact(t, svc, compaction.CompactOptions{})
		appendAll(t, svc, get(t, svc), turns(13)[24:]...)
		flush(t, svc)

		told := map[string]int{}
		for _, o := range seen.of(compaction.Unreadable) {
			if o.Session != ref || !errors.Is(o.Err, compaction.ErrCompaction) || !errors.Is(o.Err, record.ErrMalformed) {
				t.Errorf("observation: %+v", o)
			}
			for name, b := range broken {
				if message := o.Err.Error(); strings.Contains(message, fmt.Sprintf("event %q", name)) {
					told[name]++
					if !strings.Contains(message, b.says) {
						t.Errorf("%q does not say %q", message, b.says)
					}
				}
			}
		}
		for name := range broken {
			if told[name] != 1 {
				t.Errorf("the observer was told of the %s record %d times", name, told[name])
			}
		}
		if n := status(t, svc).UnreadableRecords; n != len(broken) || len(seen.of(compaction.Stored)) < 2 {
			t.Errorf("%d unreadable records, %d compactions", n, len(seen.of(compaction.Stored)))
		}
	})
}
