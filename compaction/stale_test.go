package compaction_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// TestBackgroundRecordMakesNoHandleStale: a turn goes on through the handle it began with, whatever
// a job stores meanwhile. ADK's database service refuses a handle older than the session.
func TestBackgroundRecordMakesNoHandleStale(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"the handle that set the job off", "a handle fetched while the job ran"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				summaries := newGated()
				cfg := compaction.DefaultConfig()
				cfg.Summarizer = summaries
				svc := newService(t, inner, cfg)
				first := create(t, svc)
				events := turns(9)
				appendAll(t, svc, first, events[:10]...)
				<-summaries.asked
				second := get(t, svc)
				close(summaries.open)
				flush(t, svc)
				if got := len(records(t, rawEvents(t, svc))); got != 1 {
					t.Fatalf("%d records stored, want 1: the test shows nothing", got)
				}
				user := first
				if who != "the handle that set the job off" {
					user = second
				}
				appendAll(t, svc, user, events[10:]...)
				flush(t, svc)
				wantOnce(t, svc, events)
				wantFacts(t, eventsOf(user), 9)
				if view := eventsOf(user); view[0].ID == "e1" {
					t.Error("the handle does not show the summary")
				}
				checkView(t, svc)
			})
		})
	}
}

func TestManualRecordMakesNoHandleStale(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := manualOnly()
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		events := turns(20)
		for i := 0; i < len(events); i += 8 {
			appendAll(t, svc, sess, events[i:i+8]...)
			if result := compact(t, svc, compaction.CompactOptions{KeepRecent: 1}); result.Skipped {
				t.Fatalf("after %d events: skipped: %s", i+8, result.Reason)
			}
		}
		appendAll(t, svc, sess, (&compactiontest.History{}).AddEvent(&session.Event{
			ID: "last", InvocationID: "last", Author: "user", Timestamp: histories.Epoch.Add(time.Hour),
			LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("Still here.", genai.RoleUser)},
		}).Last())
		wantFacts(t, eventsOf(sess), 20)
		checkView(t, svc)
	})
}

// TestRecordLeavesTheUpdateTimeAsItIs: a record is stamped with the session's last update time, so
// that another process's handles stay good as well.
func TestRecordLeavesTheUpdateTimeAsItIs(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := manualOnly()
		svc := newService(t, inner, cfg)
		appendAll(t, svc, create(t, svc), turns(6)...)
		elsewhere := get(t, inner)
		before := elsewhere.LastUpdateTime()
		compact(t, svc, compaction.CompactOptions{})
		if after := get(t, inner).LastUpdateTime(); !after.Equal(before) {
			t.Errorf("last update time went from %v to %v", before, after)
		}
		h := &compactiontest.History{Events: turns(6)}
		if err := inner.AppendEvent(t.Context(), elsewhere, h.User("inv7", "From another process.").Last()); err != nil {
			t.Errorf("handle of another process: %v", err)
		}
	})
}

// TestManyWritersAndCompactionsLoseNothing: writers, readers and compactions by hand at one session
// at once. On ADK's database service the writers share a handle, because there two handles that both
// append make each other stale without any help of ours.
func TestManyWritersAndCompactionsLoseNothing(t *testing.T) {
	t.Parallel()
	const writers, each = 6, 10
	for _, shared := range []bool{true, false} {
		t.Run(fmt.Sprintf("shared handle %t", shared), func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				if !shared && strings.HasSuffix(t.Name(), "/database") {
					t.Skip("ADK's database service allows one writing handle at a time")
				}
				cfg, _ := oracleConfig()
				cfg.Synchronous = false
				svc := newService(t, inner, cfg)
				one := create(t, svc)
				var (
					clock  atomic.Int64
					mu     sync.Mutex
					stored []*session.Event
					writes sync.WaitGroup
					others sync.WaitGroup
				)
				done := make(chan struct{})
				for w := range writers {
					writes.Go(func() {
						sess := one
						if !shared {
							resp, err := svc.Get(t.Context(), getRequest())
							if err != nil {
								t.Error(err)
								return
							}
							sess = resp.Session
						}
						for i := range each {
							n := w*each + i + 1
							for _, author := range []string{"user", "agent"} {
								role := genai.Role(genai.RoleUser)
								if author == "agent" {
									role = genai.RoleModel
								}
								ev := &session.Event{
									ID: fmt.Sprintf("%s-%d", author, n), InvocationID: fmt.Sprintf("inv%d", n), Author: author,
									Timestamp: histories.Epoch.Add(time.Duration(clock.Add(1)) * time.Second),
									LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(
										fmt.Sprintf("The %s says that the code of item %d is %s, and takes some words to say it.", author, n, compactiontest.Fact(n)), role)},
								}
								if err := svc.AppendEvent(t.Context(), sess, ev); err != nil {
									t.Errorf("AppendEvent: %v", err)
									return
								}
								mu.Lock()
								stored = append(stored, ev)
								mu.Unlock()
							}
						}
					})
				}
				others.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
						}
						if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); err != nil {
							t.Errorf("Compact: %v", err)
						}
						if _, err := svc.Status(t.Context(), ref); err != nil {
							t.Errorf("Status: %v", err)
						}
						one.Events().Len()
					}
				})
				writes.Wait()
				close(done)
				others.Wait()
				flush(t, svc)
				if t.Failed() {
					return
				}
				if len(stored) != writers*each*2 {
					t.Fatalf("%d events appended", len(stored))
				}
				wantOnce(t, svc, stored)
				wantCoveredOnce(t, svc)
				wantFacts(t, eventsOf(get(t, svc)), writers*each)
				if shared { // in memory, a handle does not see what others append
					wantFacts(t, eventsOf(one), writers*each)
				}
				if n := len(summariesIn(t, svc)); n == 0 || n > cfg.MaxSummaries {
					t.Errorf("%d summaries", n)
				}
				checkView(t, svc)
			})
		})
	}
}
