package compaction_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// idleHistory stores turns through a service that compacts nothing.
func idleHistory(t *testing.T, inner session.Service, events []*session.Event) {
	t.Helper()
	cfg, _ := manualOnly()
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), events...)
}

func TestCompactIfNeededCompactsWhatIsDue(t *testing.T) {
	t.Parallel()
	for _, synchronous := range []bool{true, false} {
		eachStorage(t, func(t *testing.T, inner session.Service) {
			idleHistory(t, inner, turns(12))
			cfg, _ := oracleConfig()
			cfg.Synchronous = synchronous
			svc := newService(t, inner, cfg)
			result, err := svc.CompactIfNeeded(t.Context(), ref)
			if err != nil || result.Skipped || result.Reason != "" || result.AfterEvents >= result.BeforeEvents || result.RecordID == "" || result.TokensSaved <= 0 {
				t.Fatalf("%+v, %v", result, err)
			}
			for _, m := range records(t, rawEvents(t, svc)) {
				if m.Trigger != record.TriggerInvocations {
					t.Errorf("trigger %s", m.Trigger)
				}
			}
			checkView(t, svc)
			again, err := svc.CompactIfNeeded(t.Context(), ref)
			if err != nil || !again.Skipped || again.Reason != "not due" || again.BeforeTokens != again.AfterTokens {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// Between the messages of a turn the invocation trigger waits for its end. A caller who asks does not.
func TestCompactIfNeededDoesNotWaitForTheEndOfATurn(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	idleHistory(t, inner, (&compactiontest.History{}).Turns(9, "agent").User("inv10", "And now?").Events)
	cfg, _ := oracleConfig()
	svc := newService(t, inner, cfg)
	if got := status(t, svc); got.Due || !strings.Contains(got.Reason, "end of the turn") {
		t.Fatalf("%+v: the test shows nothing", got)
	}
	if result, err := svc.CompactIfNeeded(t.Context(), ref); err != nil || result.Skipped {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestCompactIfNeededSaysWhyNot(t *testing.T) {
	t.Parallel()
	off, _ := manualOnly()
	on, _ := oracleConfig()
	for reason, row := range map[string]struct {
		cfg   compaction.Config
		turns int
	}{"automatic triggers are off": {off, 12}, "not due": {on, 2}} {
		inner := session.InMemoryService()
		idleHistory(t, inner, turns(row.turns))
		svc := newService(t, inner, row.cfg)
		if result, err := svc.CompactIfNeeded(t.Context(), ref); err != nil || !result.Skipped || result.Reason != reason || result.BeforeEvents != 2*row.turns || result.AfterEvents != 2*row.turns {
			t.Errorf("%s: %+v, %v", reason, result, err)
		}
	}
	svc := newService(t, session.InMemoryService(), on)
	if _, err := svc.CompactIfNeeded(t.Context(), ref); !adk.IsNotFound(err) {
		t.Errorf("missing session: %v", err)
	}
	if err := svc.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := svc.CompactIfNeeded(t.Context(), ref); !errors.Is(err, compaction.ErrCompaction) {
		t.Errorf("closed: %v", err)
	}
}

func TestCompactIfNeededReportsFailuresAndBacksOff(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	idleHistory(t, inner, turns(12))
	asked := 0
	cfg, _ := oracleConfig()
	cfg.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		asked++
		return summarizer.Result{}, errBoom
	})
	svc := newService(t, inner, cfg)
	for range 3 {
		if _, err := svc.CompactIfNeeded(t.Context(), ref); !errors.Is(err, errBoom) || !errors.Is(err, compaction.ErrCompaction) {
			t.Fatalf("%v", err)
		}
	}
	result, err := svc.CompactIfNeeded(t.Context(), ref)
	if err != nil || !result.Skipped || !strings.Contains(result.Reason, "attempts in a row failed") || asked != 3 {
		t.Errorf("after %d calls: %+v, %v", asked, result, err)
	}
}

// A checkpoint that the model asked for is due as well.
func TestCompactIfNeededWritesACheckpointThatWaits(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	h := (&compactiontest.History{}).Turns(4, "agent")
	idleHistory(t, inner, marks(h, "inv5", "the survey").Events)
	cfg, _ := marking()
	cfg.Synchronous = true // so that no Get starts a job
	svc := newService(t, inner, cfg)
	result, err := svc.CompactIfNeeded(t.Context(), ref)
	stored := records(t, rawEvents(t, svc))
	if err != nil || result.Skipped || len(stored) != 1 || stored[0].Note != "the survey" {
		t.Errorf("%+v, %v, %d records", result, err, len(stored))
	}
}

// A caller that is gone asks for nothing more: what is left to summarize is not tried again and again.
func TestCompactIfNeededEndsWithItsContext(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	talk(t, inner, 300)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, seen := &weatherman{}, &notes{}
	cfg := compaction.DefaultConfig()
	cfg.ContextWindow, cfg.Observer = 100_000, seen.Observe
	cfg.Summarizer = &busy{reader{w}, func() error {
		cancel()
		return ctx.Err()
	}}
	svc := newService(t, inner, cfg)
	if _, err := svc.CompactIfNeeded(ctx, ref); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want that the context was canceled", err)
	}
	if stored, declined := len(seen.of(compaction.Stored)), len(seen.of(compaction.Declined)); stored != 1 || declined != 1 || w.count() != 1 {
		t.Errorf("%d summaries were stored, %d declined, by %d calls; want one of each", stored, declined, w.count())
	}
}
