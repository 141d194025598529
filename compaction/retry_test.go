package compaction_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestRecordThatCouldNotBeStoredIsStoredLater: what was paid for is not paid for again.
func TestRecordThatCouldNotBeStoredIsStoredLater(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		broken := true
		disk := &tampered{inner, func(ev *session.Event, store func() error) error {
			if broken && compaction.IsCompactionEvent(ev) {
				return errBoom
			}
			return store()
		}}
		cfg, oracle := oracleConfig()
		seen := &notes{}
		cfg.Observer = seen.Observe
		svc := newService(t, disk, cfg)
		sess := create(t, svc)
		events := turns(6)
		appendAll(t, svc, sess, events[:10]...)
		failed := seen.of(compaction.Failed)
		if len(failed) != 1 || !errors.Is(failed[0].Err, errBoom) || !errors.Is(failed[0].Err, compaction.ErrCompaction) {
			t.Fatalf("failures: %v, want one that wraps the disk's error", failed)
		}
		if view := eventsOf(sess); len(view) != 10 {
			t.Errorf("the view shows %d events without a record in storage", len(view))
		}
		broken = false
		appendAll(t, svc, sess, events[10:]...)
		got := records(t, rawEvents(t, svc))
		if len(got) != 1 || got[0].RecordID != failed[0].RecordID {
			t.Errorf("%d records stored, want the one with the ID of the failed attempt", len(got))
		}
		if n := len(oracle.Requests()); n != 1 {
			t.Errorf("the summarizer was asked %d times, want 1", n)
		}
		wantOnce(t, svc, events)
		checkView(t, svc)
	})
}

// TestStoreThatOnlySeemsToFailLeavesOneRecord: the answer of a commit may be lost.
func TestStoreThatOnlySeemsToFailLeavesOneRecord(t *testing.T) {
	t.Parallel()
	for name, lies := range map[string]int32{"once": 1, "three times": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				var lied atomic.Int32
				disk := &tampered{inner, func(ev *session.Event, store func() error) error {
					err := store()
					if err == nil && compaction.IsCompactionEvent(ev) && lied.Add(1) <= lies {
						return errBoom
					}
					return err
				}}
				cfg, oracle := oracleConfig()
				svc := newService(t, disk, cfg)
				sess := create(t, svc)
				events := turns(7)
				appendAll(t, svc, sess, events...)
				if lied.Load() == 0 {
					t.Fatal("nothing was stored")
				}
				if n := len(records(t, rawEvents(t, svc))); n != 1 {
					t.Errorf("%d record events stored, want 1", n)
				}
				if n := len(oracle.Requests()); n != 1 {
					t.Errorf("the summarizer was asked %d times, want 1", n)
				}
				wantOnce(t, svc, events)
				wantFacts(t, eventsOf(sess), 7)
				if n := len(summariesIn(t, svc)); n != 1 {
					t.Errorf("%d summaries are shown", n)
				}
				checkView(t, svc)
			})
		})
	}
}

// TestHangingSummarizerIsAskedOnceAtATime: calls that ignore their context must not pile up.
func TestHangingSummarizerIsAskedOnceAtATime(t *testing.T) {
	t.Parallel()
	release, asked := make(chan struct{}), make(chan struct{}, 100)
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.Timeout, cfg.Observer = time.Millisecond, seen.Observe
	cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		asked <- struct{}{}
		<-release
		return prose("Nothing."), nil
	})
	t.Cleanup(func() { close(release) })
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	events := turns(12)
	appendAll(t, svc, sess, events...)
	if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); !errors.Is(err, compaction.ErrCompaction) {
		t.Errorf("Compact beside a hanging call: %v", err)
	}
	select {
	case <-asked: // which may be after its time was up
	case <-time.After(time.Minute):
		t.Fatal("the summarizer was never asked")
	}
	if n := len(asked); n != 0 {
		t.Errorf("%d calls at a time", n+1)
	}
	if len(seen.of(compaction.Failed)) < 2 {
		t.Errorf("failures: %v", seen.of(compaction.Failed))
	}
	if view := eventsOf(sess); len(view) != len(events) {
		t.Errorf("the view shows %d of %d events", len(view), len(events))
	}
}

// TestRecordOfAnotherProcessWins: two services over one storage compact the same turns; the second
// record would cover them twice.
func TestRecordOfAnotherProcessWins(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{5, 1} {
		name := map[int]string{5: "its events are covered", 1: "the summary it absorbs is absorbed"}[limit]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				other, _ := manualOnly()
				other.MaxSummaries = limit
				theirs := newService(t, inner, other)
				summaries, seen := newGated(), &notes{}
				cfg, _ := manualOnly()
				cfg.Summarizer, cfg.Observer, cfg.MaxSummaries = summaries, seen.Observe, limit
				ours := newService(t, inner, cfg)
				events := turns(16)
				appendAll(t, theirs, create(t, theirs), events[:16]...)
				compact(t, theirs, compaction.CompactOptions{})
				appendAll(t, theirs, get(t, theirs), events[16:]...)

				results := make(chan compaction.CompactResult, 1)
				go func() {
					result, err := ours.Compact(context.WithoutCancel(t.Context()), ref, compaction.CompactOptions{})
					if err != nil {
						t.Errorf("Compact: %v", err)
					}
					results <- result
				}()
				<-summaries.asked
				if result := compact(t, theirs, compaction.CompactOptions{}); result.Skipped {
					t.Fatalf("the other process skipped: %s", result.Reason)
				}
				close(summaries.open)
				if result := <-results; !result.Skipped || result.Reason == "" {
					t.Errorf("result: %+v, want skipped with a reason", result)
				}
				if n := len(seen.of(compaction.Discarded)); n != 1 {
					t.Errorf("%d discarded, want 1: %v", n, seen.all())
				}
				wantCoveredOnce(t, ours)
				wantOnce(t, ours, events)
				wantFacts(t, eventsOf(get(t, ours)), 16)
				checkView(t, ours)
			})
		})
	}
}

// TestSessionDeletedMeanwhileGetsNoRecord: one created anew under the same ID is another session.
// ADK's database service needs SQLite's foreign keys to delete events, so this is about memory only.
func TestSessionDeletedMeanwhileGetsNoRecord(t *testing.T) {
	t.Parallel()
	summaries := newGated()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summaries
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(5)...)
	<-summaries.asked
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	again := create(t, svc)
	appendAll(t, svc, again, turns(3)...)
	close(summaries.open)
	if err := svc.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(records(t, rawEvents(t, svc))); n != 0 {
		t.Errorf("%d records of the deleted session in the new one", n)
	}
	if view := eventsOf(again); len(view) != 6 {
		t.Errorf("the new session shows %d events, want 6", len(view))
	}
}
