package compaction_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// A time that no record can write: its reference must name the event all the same, or its window
// would be summarized again and again.
func TestEventsOfImpossibleTimesAreSummarizedOnce(t *testing.T) {
	t.Parallel()
	cfg, oracle := manualOnly()
	svc := newService(t, session.InMemoryService(), cfg)
	events := turns(6)
	for i := range 2 {
		events[i].ID, events[i].Timestamp = "", time.Date(20_000, 1, 1, 0, 0, i, 0, time.UTC)
	}
	appendAll(t, svc, create(t, svc), events...)
	compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
	if n := len(oracle.Requests()); n != 1 {
		t.Errorf("the summarizer was asked %d times, want once", n)
	}
}

// What a record says of its own size may be anything; a merge that believed it would cut facts away.
func TestAMergeMeasuresItsPartsItself(t *testing.T) {
	t.Parallel()
	cfg, _ := manualOnly()
	cfg.MaxSummaries = 2
	inner := session.InMemoryService()
	svc := newService(t, inner, cfg)
	h := (&compactiontest.History{}).Turns(12, "agent")
	appendAll(t, svc, create(t, svc), h.Events...)
	raw := get(t, inner)
	for _, ev := range []*session.Event{h.Record("r1", "e1", "e2"), h.Record("r2", "e3", "e4")} {
		appendAll(t, inner, raw, histories.Amend(ev, func(m *record.Metadata) { m.CompactedTokens = 1 }))
	}
	compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
	wantFacts(t, eventsOf(get(t, svc)), 12)
}

// A client that hangs up says nothing about the storage, and what was paid for is kept.
func TestAClientThatHangsUpWhileARecordIsStoredIsNoFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	hangsUp := true
	inner := &tampered{session.InMemoryService(), func(ev *session.Event, store func() error) error {
		if hangsUp && compaction.IsCompactionEvent(ev) {
			cancel()
			return ctx.Err()
		}
		return store()
	}}
	cfg, oracle := manualOnly()
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), turns(6)...)
	result, err := svc.Compact(ctx, ref, compaction.CompactOptions{})
	if got := status(t, svc); got.Failures != 0 || !result.Skipped {
		t.Errorf("%d failures count towards the back-off: %v; result %+v, %v", got.Failures, got.LastError, result, err)
	}
	hangsUp = false
	compact(t, svc, compaction.CompactOptions{})
	if got := status(t, svc); len(got.Summaries) != 1 || len(oracle.Requests()) > 2 {
		t.Errorf("%d summaries after %d calls", len(got.Summaries), len(oracle.Requests()))
	}
}

// A file that was given for a focus would be in the prompt of each summarizer call, and in the record for good.
func TestWordsGivenByHandAreBounded(t *testing.T) {
	t.Parallel()
	inner, writer := session.InMemoryService(), &weatherman{}
	talk(t, inner, 20)
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = writer
	svc := newService(t, inner, cfg)
	for _, n := range []int{compaction.MaxWords, compaction.MaxWords + 1} {
		before := writer.count()
		words := strings.Repeat("ü", n)
		_, focusErr := svc.Compact(t.Context(), ref, compaction.CompactOptions{Focus: words, KeepRecent: 10})
		_, noteErr := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{Note: words})
		if n <= compaction.MaxWords {
			if focusErr != nil || noteErr != nil || writer.count() != before+2 {
				t.Errorf("words of %d characters: %v, %v, %d calls", n, focusErr, noteErr, writer.count()-before)
			}
			continue
		}
		for name, err := range map[string]error{"Focus": focusErr, "Note": noteErr} {
			if err == nil || !strings.Contains(err.Error(), name+" has 4001 characters") || !strings.Contains(err.Error(), "may have 4000; shorten it") {
				t.Errorf("%s of %d characters: %v", name, n, err)
			}
		}
		if writer.count() != before {
			t.Errorf("words that are too long cost %d calls", writer.count()-before)
		}
	}
}
