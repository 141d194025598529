package compaction_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/tokens"
)

// badClocks give the i-th event its time.
var badClocks = map[string]func(i int) time.Time{
	"backwards": func(i int) time.Time { return histories.Epoch.Add(-time.Duration(i) * time.Hour) },
	"zero":      func(int) time.Time { return time.Time{} },
	"year 9999": func(int) time.Time { return time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC) },
	"jumping": func(i int) time.Time {
		return []time.Time{{}, time.Date(9999, 12, 31, 0, 0, 0, i, time.UTC), histories.Epoch}[i%3]
	},
}

// TestBadClocksHarmNoTurn: times order nothing and hide nothing. ADK's database service sorts by them on
// every read, so a session may come back in another order, and must be well-formed then too.
func TestBadClocksHarmNoTurn(t *testing.T) {
	t.Parallel()
	for name, clock := range badClocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				const n = 30
				cfg, oracle := oracleConfig()
				cfg.ContextWindow, cfg.TokenThreshold = 1_000_000, 1500
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				h := &compactiontest.History{}
				for i := 1; i <= n; i++ {
					inv, id := fmt.Sprint("inv", i), fmt.Sprint("call", i)
					h.User(inv, compactiontest.Fact(i)+" "+words(20)).Call(inv, "agent", "tool", id).
						Response(inv, "agent", "tool", words(20), id).Agent(inv, "agent", words(20))
					prompt := 0
					for _, ev := range eventsOf(sess) {
						prompt += tokens.OfEvent(ev)
					}
					h.Last().UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(100 + prompt), CandidatesTokenCount: 20}
					for k, ev := range h.Events[4*(i-1):] {
						ev.Timestamp = clock(4*i + k)
						appendAll(t, svc, sess, ev)
					}
				}
				if calls := len(oracle.Requests()); calls < n/5 || calls > n {
					t.Errorf("%d calls of the summarizer in %d turns", calls, n)
				}
				if shown := sess.Events().Len(); shown > 8*4+cfg.MaxSummaries {
					t.Errorf("%d events are shown", shown)
				}
				wantFacts(t, eventsOf(sess), n)
				wantFacts(t, eventsOf(get(t, svc)), n)
				wantOnce(t, svc, h.Events)
				wantCoveredOnce(t, svc)
				checkView(t, svc)
			})
		})
	}
}

// TestBadClocksMakeNoHandleStale: a record is stamped with the session's own last time, whatever it is.
func TestBadClocksMakeNoHandleStale(t *testing.T) {
	t.Parallel()
	for name, clock := range badClocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, _ := manualOnly()
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				events := turns(12)
				for i, ev := range events {
					ev.Timestamp = clock(i)
				}
				appendAll(t, svc, sess, events[:20]...)
				if result, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); err != nil || result.Skipped {
					t.Fatalf("nothing was compacted: %+v, %v", result, err)
				}
				appendAll(t, svc, sess, events[20:]...)
				wantFacts(t, eventsOf(sess), 12)
				wantOnce(t, svc, events)
			})
		})
	}
}
