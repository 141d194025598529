package compaction_test

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// longSession returns an in-memory service with a session of n events whose older part is summarized,
// and the same service wrapped.
func longSession(b *testing.B, n int) map[string]session.Service {
	b.Helper()
	inner := session.InMemoryService()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.ContextWindow = summarizer.Extractive{}, 1<<30 // no trigger is due
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = svc.Close(context.Background()) })
	created, err := inner.Create(b.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		b.Fatal(err)
	}
	storeLong(b, inner, created.Session, n)
	return map[string]session.Service{"inner": inner, "wrapped": svc}
}

// BenchmarkAppendEvent appends what an agent says, which makes nothing due, bare and wrapped, to sessions
// of two lengths. Compare wrapped with inner, and one length with the other.
func BenchmarkAppendEvent(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		for _, layer := range []string{"inner", "wrapped"} {
			b.Run(fmt.Sprintf("%d/%s", n, layer), func(b *testing.B) {
				service := longSession(b, n)[layer]
				resp, err := service.Get(b.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
				if err != nil {
					b.Fatal(err)
				}
				events := make([]*session.Event, b.N+1)
				for i := range events {
					events[i] = (&compactiontest.History{}).Agent("bench", "agent", "The price of the item is 12.50 EUR, and there are 40 left.").Last()
					events[i].ID = fmt.Sprint("bench-", i)
				}
				b.ReportAllocs()
				for i, ev := range events {
					if i == 1 { // the first one makes room in lists, once for a handle
						b.ResetTimer()
					}
					if err := service.AppendEvent(b.Context(), resp.Session, ev); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkGet reads a session of two lengths, bare and wrapped.
func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		services := longSession(b, n)
		for _, layer := range []string{"inner", "wrapped"} {
			b.Run(fmt.Sprintf("%d/%s", n, layer), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					resp, err := services[layer].Get(b.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
					if err != nil {
						b.Fatal(err)
					}
					resp.Session.Events().Len()
				}
			})
		}
	}
}

// BenchmarkAdopt is the first append to a session that grew before compaction was turned on, over a
// window of 128,000 tokens, with a summarizer that answers at once: what a user waits for beyond the
// summarizer's own time. calls/op are the calls that the append waits for, and calls-in-all/op those
// until nothing is due.
func BenchmarkAdopt(b *testing.B) {
	for _, turns := range []int{1_000, 5_000, 10_000, 20_000} {
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			calls, inAll := 0, 0
			for b.Loop() {
				b.StopTimer()
				inner := session.InMemoryService()
				h := talk(b, inner, turns)
				writer := &weatherman{}
				cfg := compaction.DefaultConfig()
				cfg.ContextWindow, cfg.Summarizer = 128_000, writer
				svc := newService(b, inner, cfg)
				turn := get(b, svc)
				next := h.User("new", "And what will it be like tomorrow, in the last town?").Last()
				b.StartTimer()
				appendAll(b, svc, turn, next)
				b.StopTimer()
				calls += writer.count()
				flush(b, svc)
				inAll += writer.count()
				b.StartTimer()
			}
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
			b.ReportMetric(float64(inAll)/float64(b.N), "calls-in-all/op")
		})
	}
}
