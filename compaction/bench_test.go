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

// longSession returns an in-memory service with a session of n events whose older part is summarized.
func longSession(b *testing.B, n int) (inner session.Service, svc *compaction.CompactionSessionService) {
	b.Helper()
	inner = session.InMemoryService()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = summarizer.Extractive{}, true
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = svc.Close(context.Background()) })
	created, err := svc.Create(b.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		b.Fatal(err)
	}
	for _, ev := range (&compactiontest.History{}).Turns(n/2, "agent").Events {
		if err := svc.AppendEvent(b.Context(), created.Session, ev); err != nil {
			b.Fatal(err)
		}
	}
	return inner, svc
}

// BenchmarkAppendEvent appends an event that makes nothing due, bare and wrapped, to sessions of two
// lengths. Compare wrapped with inner, and one length with the other.
func BenchmarkAppendEvent(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		for _, layer := range []string{"inner", "wrapped"} {
			inner, svc := longSession(b, n)
			service := map[string]session.Service{"inner": inner, "wrapped": svc}[layer]
			b.Run(fmt.Sprintf("%d/%s", n, layer), func(b *testing.B) {
				resp, err := service.Get(b.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
				if err != nil {
					b.Fatal(err)
				}
				events := make([]*session.Event, b.N) // changes of state: no trigger is due
				for i := range events {
					events[i] = &session.Event{ID: fmt.Sprint(b.N, "-", i), InvocationID: "bench", Author: "agent", Timestamp: compactiontest.Epoch}
				}
				b.ReportAllocs()
				b.ResetTimer()
				for _, ev := range events {
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
		inner, svc := longSession(b, n)
		for _, layer := range []struct {
			name    string
			service session.Service
		}{{"inner", inner}, {"wrapped", svc}} {
			b.Run(fmt.Sprintf("%d/%s", n, layer.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					resp, err := layer.service.Get(b.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
					if err != nil {
						b.Fatal(err)
					}
					resp.Session.Events().Len()
				}
			})
		}
	}
}
