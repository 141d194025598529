package compaction_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// traces records spans for one test, apart from those of the tests beside it.
type traces struct {
	*tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
}

func newTraces() *traces {
	recorder := tracetest.NewSpanRecorder()
	return &traces{recorder, sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))}
}

// spans returns the spans in the order in which they ended. None may be left open.
func (r *traces) spans(t *testing.T) []sdktrace.ReadOnlySpan {
	t.Helper()
	if started, ended := len(r.Started()), len(r.Ended()); started != ended {
		t.Errorf("%d spans were started and %d ended", started, ended)
	}
	return r.Ended()
}

func attributesOf(span sdktrace.ReadOnlySpan) map[string]attribute.Value {
	out := map[string]attribute.Value{}
	for _, kv := range span.Attributes() {
		out[string(kv.Key)] = kv.Value
	}
	return out
}

// outcomeKeys say what became of a summary; a span has exactly one of them.
var outcomeKeys = map[compaction.Outcome]string{
	compaction.Stored:    "gen_ai.compaction.result_event_id",
	compaction.Declined:  "gen_ai.compaction.declined",
	compaction.Discarded: "gen_ai.compaction.discarded",
	compaction.Failed:    "error.type",
}

// wantOutcome checks that a span says what became of a summary, and nothing else.
func wantOutcome(t *testing.T, span sdktrace.ReadOnlySpan, want compaction.Outcome) {
	t.Helper()
	attrs := attributesOf(span)
	for outcome, key := range outcomeKeys {
		if value, has := attrs[key]; has != (outcome == want) || has && value.AsString() == "" {
			t.Errorf("%s: %s is %q on a compaction that was %s", span.Name(), key, value.AsString(), want)
		}
	}
	failed := want == compaction.Failed
	if (span.Status().Code == codes.Error) != failed || (len(span.Events()) == 1) != failed {
		t.Errorf("%s: status %v, events %v on a compaction that was %s", span.Name(), span.Status(), span.Events(), want)
	}
	if strings.Contains(span.Status().Description, "\n") {
		t.Errorf("%s: the status holds a stack: %s", span.Name(), span.Status().Description)
	}
}

// occasion is one way for a compaction to end.
type occasion struct {
	trigger string
	outcome compaction.Outcome
	// change makes it end so. It may call what it is given to work on the inner service.
	change    func(cfg *compaction.Config, inner *tampered)
	errorType string
}

var occasions = map[string]occasion{
	"stored": {"invocations", compaction.Stored, func(*compaction.Config, *tampered) {}, ""},
	"the answer of the store is lost": {"invocations", compaction.Stored, func(_ *compaction.Config, inner *tampered) {
		inner.appendEvent = func(ev *session.Event, store func() error) error {
			return errors.Join(store(), onRecords(func() error { return errBoom })(ev, func() error { return nil }))
		}
	}, ""},
	"nothing may be summarized": {"tokens", compaction.Declined, func(cfg *compaction.Config, _ *tampered) {
		cfg.InvocationThreshold, cfg.TokenThreshold, cfg.RetainEvents = compaction.Off, 210, 50
		cfg.RetainTokens = compaction.Off
	}, ""},
	"the summary is not shorter": {"invocations", compaction.Declined, func(cfg *compaction.Config, _ *tampered) {
		cfg.Summarizer = answers(prose(words(2000)), nil)
	}, ""},
	"the session is deleted meanwhile": {"invocations", compaction.Discarded, func(cfg *compaction.Config, inner *tampered) {
		oracle := &compactiontest.Oracle{}
		cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
			if err := inner.Delete(ctx, &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
				return summarizer.Result{}, err
			}
			return oracle.Summarize(ctx, req)
		})
	}, ""},
	"the model fails": {"invocations", compaction.Failed, func(cfg *compaction.Config, _ *tampered) {
		cfg.Summarizer = answers(summarizer.Result{}, errBoom)
	}, "_OTHER"},
	"the answer is of no use": {"invocations", compaction.Failed, func(cfg *compaction.Config, _ *tampered) {
		cfg.Summarizer = answers(prose(" \n"), nil)
	}, "unusable_summary"},
	"the model is too slow": {"invocations", compaction.Failed, func(cfg *compaction.Config, _ *tampered) {
		cfg.Timeout = time.Millisecond
		cfg.Summarizer = summarizerFunc(func(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
			<-ctx.Done()
			return summarizer.Result{}, ctx.Err()
		})
	}, "timeout"},
	"the summarizer panics": {"invocations", compaction.Failed, func(cfg *compaction.Config, _ *tampered) {
		cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) { panic("boom") })
	}, "panic"},
	"the record cannot be stored": {"invocations", compaction.Failed, func(_ *compaction.Config, inner *tampered) {
		inner.appendEvent = onRecords(func() error { return errBoom })
	}, "not_stored"},
	"the inner service panics": {"invocations", compaction.Failed, func(_ *compaction.Config, inner *tampered) {
		inner.appendEvent = onRecords(func() error { panic("boom") })
	}, "panic"},
}

func answers(result summarizer.Result, err error) compaction.Summarizer {
	return summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) { return result, err })
}

func onRecords(f func() error) func(*session.Event, func() error) error {
	return func(ev *session.Event, store func() error) error {
		if compaction.IsCompactionEvent(ev) {
			return f()
		}
		return store()
	}
}

// run plays five turns, which set one compaction off.
func (o occasion) run(t *testing.T) (*traces, *notes, *compaction.CompactionSessionService) {
	t.Helper()
	traced, seen := newTraces(), &notes{}
	inner := &tampered{session.InMemoryService(), func(_ *session.Event, store func() error) error { return store() }}
	cfg, _ := oracleConfig()
	cfg.TracerProvider, cfg.Observer, cfg.SafetyRatio = traced.provider, seen.Observe, compaction.Off
	o.change(&cfg, inner)
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), turns(5)...)
	return traced, seen, svc
}
