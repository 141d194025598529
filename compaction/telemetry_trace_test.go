package compaction_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// turnIn appends the events of one turn below a span of its own, which ends with the turn, and so
// does its context.
func turnIn(t *testing.T, tracer trace.Tracer, svc session.Service, sess session.Session, events []*session.Event) trace.SpanContext {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, span := tracer.Start(ctx, "turn "+events[0].InvocationID)
	defer span.End()
	for _, ev := range events {
		if err := svc.AppendEvent(ctx, sess, ev); err != nil {
			t.Fatalf("AppendEvent(%s): %v", ev.ID, err)
		}
	}
	return span.SpanContext()
}

// compactions are the spans of compactions, those of turns left out.
func (r *traces) compactions(t *testing.T) []sdktrace.ReadOnlySpan {
	t.Helper()
	var out []sdktrace.ReadOnlySpan
	for _, span := range r.spans(t) {
		if strings.HasPrefix(span.Name(), "compact_events") {
			out = append(out, span)
		}
	}
	return out
}

func wantBelow(t *testing.T, span sdktrace.ReadOnlySpan, caller trace.SpanContext) {
	t.Helper()
	if !span.Parent().Equal(caller) {
		t.Errorf("%s of %s has the parent %v of trace %v, want %v of %v", span.Name(),
			attributesOf(span)["gcp.vertex.agent.invocation_id"].AsString(), span.Parent().SpanID(), span.Parent().TraceID(), caller.SpanID(), caller.TraceID())
	}
}

// TestCompactionJoinsTheTraceOfItsTurn, also where the turn is over before the summary is written.
func TestCompactionJoinsTheTraceOfItsTurn(t *testing.T) {
	t.Parallel()
	for name, synchronous := range map[string]bool{"inline": true, "in the background": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			traced, summaries := newTraces(), newGated()
			cfg := compaction.DefaultConfig()
			cfg.TracerProvider, cfg.Synchronous, cfg.MaxSummaries = traced.provider, synchronous, 2
			cfg.Summarizer = summaries
			if synchronous {
				close(summaries.open)
			}
			svc := newService(t, session.InMemoryService(), cfg)
			sess, events := create(t, svc), turns(20)
			callers := map[string]trace.SpanContext{}
			for i := 0; i < len(events); i += 2 {
				invocation := events[i].InvocationID
				callers[invocation] = turnIn(t, traced.provider.Tracer("test"), svc, sess, events[i:i+2])
				if i == 8 && !synchronous {
					<-summaries.asked
					close(summaries.open) // the turn is over by now
				}
				flush(t, svc)
			}
			merges := 0
			spans := traced.compactions(t)
			for _, span := range spans {
				wantOutcome(t, span, compaction.Stored)
				invocation := attributesOf(span)["gcp.vertex.agent.invocation_id"].AsString()
				caller, known := callers[invocation]
				if !known {
					t.Fatalf("%s names the invocation %q", span.Name(), invocation)
				}
				wantBelow(t, span, caller)
				if span.Name() == "compact_events merge" {
					merges++
				}
			}
			if len(spans) < 5 || merges == 0 {
				t.Errorf("%d spans, %d merges: the test shows too little", len(spans), merges)
			}
		})
	}
}

// TestJobInLineKeepsTheTraceOfItsOwnTurn: the job of a later turn takes the place of the one in line,
// and is done by whoever waits there.
func TestJobInLineKeepsTheTraceOfItsOwnTurn(t *testing.T) {
	t.Parallel()
	traced := newTraces()
	cfg := compaction.DefaultConfig()
	cfg.TracerProvider = traced.provider
	oracle, asked, answer := &compactiontest.Oracle{}, make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		if calls.Add(1) == 1 {
			close(asked)
			<-answer
			return summarizer.Result{}, errBoom
		}
		return oracle.Summarize(ctx, req)
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess, events := create(t, svc), turns(8)
	callers := map[string]trace.SpanContext{}
	for i := 0; i < len(events); i += 2 {
		callers[events[i].InvocationID] = turnIn(t, traced.provider.Tracer("test"), svc, sess, events[i:i+2])
		switch {
		case i < 8:
			flush(t, svc) // a job that began only in turn 5 would find its events, and do what they are due
		case i == 8:
			<-asked
		}
	}
	close(answer)
	flush(t, svc)
	spans := traced.compactions(t)
	if len(spans) != 2 {
		t.Fatalf("%d spans, want the failed one of turn 5 and the next", len(spans))
	}
	for i, want := range []string{"inv5", "inv8"} {
		if got := attributesOf(spans[i])["gcp.vertex.agent.invocation_id"].AsString(); got != want {
			t.Errorf("span %d names the invocation %q, want %q", i, got, want)
		}
		wantBelow(t, spans[i], callers[want])
	}
}

// TestCallsOfTheSummarizerAreTracedBelowTheCompaction, and by hand the compaction below the caller.
func TestCallsOfTheSummarizerAreTracedBelowTheCompaction(t *testing.T) {
	t.Parallel()
	traced := newTraces()
	tracer := traced.provider.Tracer("test")
	cfg, oracle := manualOnly()
	cfg.TracerProvider = traced.provider
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		_, span := tracer.Start(ctx, "call")
		defer span.End()
		return oracle.Summarize(ctx, req)
	})
	var seen []string
	cfg.Observer = func(ctx context.Context, o compaction.Observation) {
		seen = append(seen, fmt.Sprint(o.Outcome, " ", trace.SpanContextFromContext(ctx).SpanID()))
	}
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(6)...)
	ctx, caller := tracer.Start(t.Context(), "by hand")
	if _, err := svc.Compact(ctx, ref, compaction.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	caller.End()
	spans := traced.spans(t)
	if len(spans) != 3 || spans[0].Name() != "call" || spans[1].Name() != "compact_events manual" {
		t.Fatalf("spans: %v", spans)
	}
	wantBelow(t, spans[0], spans[1].SpanContext())
	wantBelow(t, spans[1], caller.SpanContext())
	id := spans[1].SpanContext().SpanID().String()
	if got := strings.Join(seen, ", "); got != "started "+id+", stored "+id {
		t.Errorf("the observer was called with the spans %s, want %s", got, id)
	}
}
