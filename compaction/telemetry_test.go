package compaction_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// TestSpanHasTheOutcome: a canceled, discarded or failed compaction must not read as a
// success, nor an idle session like one where nothing helps.
func TestSpanHasTheOutcome(t *testing.T) {
	t.Parallel()
	for name, o := range occasions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			traced, seen, svc := o.run(t)
			spans := traced.spans(t)
			if len(spans) != 1 {
				t.Fatalf("%d spans, want 1", len(spans))
			}
			if want := "compact_events " + o.trigger; spans[0].Name() != want {
				t.Errorf("the span is named %q, want %q", spans[0].Name(), want)
			}
			wantOutcome(t, spans[0], o.outcome)
			attrs := attributesOf(spans[0])
			if got := attrs["error.type"].AsString(); got != o.errorType {
				t.Errorf("error.type is %q, want %q", got, o.errorType)
			}
			if n := len(seen.of(o.outcome)); n != 1 {
				t.Errorf("the observer was told of %s %d times: %v", o.outcome, n, seen.all())
			}
			if o.outcome == compaction.Stored {
				raw := rawEvents(t, svc)
				ids := compactiontest.IDs(raw)
				if id := attrs["gen_ai.compaction.result_event_id"].AsString(); !slices.Contains(ids, id) {
					t.Errorf("result_event_id %q is no stored event", id)
				}
				if id := attrs["gen_ai.compaction.record_id"].AsString(); id != records(t, raw)[0].RecordID {
					t.Errorf("record_id is %q", id)
				}
			}
		})
	}
}

// TestPanicOutsideOfAnAttemptIsTraced: it keeps every compaction from being tried, by hand too.
func TestPanicOutsideOfAnAttemptIsTraced(t *testing.T) {
	t.Parallel()
	traced, reader := newTraces(), sdkmetric.NewManualReader()
	cfg, _ := oracleConfig()
	cfg.TracerProvider, cfg.MeterProvider = traced.provider, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	cfg.Pin = func(*session.Event) bool { panic("boom") }
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(1)...) // the first turn is looked at, to see how many are missing
	if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); !errors.Is(err, compaction.ErrCompaction) {
		t.Errorf("Compact: %v", err)
	}
	spans := traced.spans(t)
	if len(spans) != 2 || spans[0].Name() != "compact_events" || spans[1].Name() != "compact_events manual" {
		t.Fatalf("spans: %v", spans)
	}
	for _, span := range spans {
		wantOutcome(t, span, compaction.Failed)
	}
	want := map[string]float64{"error.type=panic,trigger=none": 1, "error.type=panic,trigger=manual": 1}
	if got := read(t, reader)["compaction.errors"].values; !maps.Equal(got, want) {
		t.Errorf("errors %v, want %v", got, want)
	}
}

// TestNoTriggerNoSpan: looking and finding nothing due leaves no trace.
func TestNoTriggerNoSpan(t *testing.T) {
	t.Parallel()
	traced := newTraces()
	cfg, oracle := oracleConfig()
	cfg.TracerProvider = traced.provider
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(9)[:8]...)
	flush(t, svc)
	status(t, svc)
	if n := len(traced.Started()); n != 0 || len(oracle.Requests()) != 0 {
		t.Errorf("%d spans without a trigger, %d summaries", n, len(oracle.Requests()))
	}
	appendAll(t, svc, sess, turns(9)[8:]...)
	if spans := traced.spans(t); len(spans) != 1 {
		t.Errorf("%d spans at the fifth turn, want 1", len(spans))
	}
}

// TestEverySummarizationHasItsSpan: as many spans as calls, by every trigger, whatever comes of them.
func TestEverySummarizationHasItsSpan(t *testing.T) {
	t.Parallel()
	traced, seen := newTraces(), &notes{}
	cfg, oracle := oracleConfig()
	cfg.TracerProvider, cfg.Observer, cfg.MaxSummaries = traced.provider, seen.Observe, 2
	var calls atomic.Int32
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		if n := calls.Add(1); n == 3 || n == 5 {
			return summarizer.Result{}, errBoom
		}
		return oracle.Summarize(ctx, req)
	})
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(40)...)
	compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
	if got := compact(t, svc, compaction.CompactOptions{KeepRecent: 1}); !got.Skipped {
		t.Errorf("the second call found something: %+v", got)
	}
	appendAll(t, svc, get(t, svc), turns(42)[80:]...)
	if _, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{}); err != nil {
		t.Fatal(err)
	}
	named, outcomes := map[string]int{}, map[compaction.Outcome]int{}
	asked := 0
	for _, span := range traced.spans(t) {
		named[span.Name()]++
		for outcome, key := range outcomeKeys {
			if _, has := attributesOf(span)[key]; has {
				outcomes[outcome]++
			}
		}
		if attributesOf(span)["gen_ai.compaction.event_count"].AsInt64() > 0 {
			asked++
		}
	}
	for _, trigger := range []string{"invocations", "merge", "manual", "checkpoint"} {
		if named["compact_events "+trigger] == 0 {
			t.Errorf("no span for %s: %v", trigger, named)
		}
	}
	if asked != int(calls.Load()) || asked < 10 {
		t.Errorf("%d spans of attempts for %d calls", asked, calls.Load())
	}
	for outcome := range outcomeKeys {
		if told := len(seen.of(outcome)); told != outcomes[outcome] {
			t.Errorf("%d spans are %s, the observer was told of %d", outcomes[outcome], outcome, told)
		}
	}
	if outcomes[compaction.Failed] == 0 || outcomes[compaction.Declined] == 0 {
		t.Errorf("%v: the test shows too little", outcomes)
	}
}

// TestLateStoreIsLinkedToItsSummary: the attempt that wrote the summary failed, and the one that
// stores it asks nobody; what the summary took is told once.
func TestLateStoreIsLinkedToItsSummary(t *testing.T) {
	t.Parallel()
	traced, seen := newTraces(), &notes{}
	broken := true
	inner := &tampered{session.InMemoryService(), onRecords(nil)}
	inner.appendEvent = func(ev *session.Event, store func() error) error {
		if broken && compaction.IsCompactionEvent(ev) {
			return errBoom
		}
		return store()
	}
	cfg, oracle := oracleConfig()
	cfg.TracerProvider, cfg.Observer = traced.provider, seen.Observe
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		result, err := oracle.Summarize(ctx, req)
		result.Usage = tokens.Usage{PromptTokens: 100, OutputTokens: 10}
		return result, err
	})
	svc := newService(t, inner, cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(6)[:10]...)
	broken = false
	appendAll(t, svc, sess, turns(6)[10:]...)
	spans := traced.spans(t)
	if len(spans) != 2 {
		t.Fatalf("%d spans, want 2", len(spans))
	}
	wantOutcome(t, spans[0], compaction.Failed)
	wantOutcome(t, spans[1], compaction.Stored)
	if links := spans[1].Links(); len(links) != 1 || !links[0].SpanContext.Equal(spans[0].SpanContext()) {
		t.Errorf("links %v, want one to the span that wrote the summary", links)
	}
	first, second := attributesOf(spans[0]), attributesOf(spans[1])
	if !second["gen_ai.compaction.late_store"].AsBool() || first["gen_ai.compaction.event_count"] != second["gen_ai.compaction.event_count"] {
		t.Errorf("the second span: %v", second)
	}
	if _, twice := second["gen_ai.usage.input_tokens"]; twice || first["gen_ai.usage.input_tokens"].AsInt64() != 100 {
		t.Errorf("what the summary took is told as %v and %v", first, second)
	}
	used := 0
	for _, o := range seen.all() {
		used += o.Usage.Total()
	}
	if used != 110 {
		t.Errorf("the observer was told of %d tokens for one call that took 110", used)
	}
	if n := len(oracle.Requests()); n != 1 || !errors.Is(seen.of(compaction.Failed)[0].Err, errBoom) {
		t.Errorf("%d calls", n)
	}
}
