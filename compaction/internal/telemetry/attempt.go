package telemetry

import (
	"context"
	"errors"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Attempt is one compaction from its start until its outcome is known. Its owner fills in the
// Observation as it learns more; End reports it, once.
type Attempt struct {
	Observation
	// EventID is the ID of the event that stores the record, "" while none does.
	EventID string

	reporter *Reporter
	span     trace.Span
	asks     bool
	record   *record.Metadata // the summary, nil while there is none
	ended    bool
}

// Opening is what is known of an attempt when it starts.
type Opening struct {
	Observation
	// Writer is the summarizer that the attempt would ask, and Provider what may know the provider
	// behind it: the Writer or its model. Both are nil where nothing is to be written.
	Writer, Provider any
	// Asks says that the Writer is about to be called. The attempt is then observed as Started, and
	// its duration and cost are counted.
	Asks bool
	// Threshold is the prompt size that sets off the token trigger, 0 where that is off.
	Threshold int
	// WrittenBy is the span of the attempt that wrote the summary, for an attempt that stores it
	// later.
	WrittenBy *trace.SpanContext
}

// Start starts an attempt and its span. The context that it returns is the one to work with: what
// the summarizer does is traced below the attempt.
func (r *Reporter) Start(ctx context.Context, o Opening) (context.Context, *Attempt) {
	a := &Attempt{Observation: o.Observation, reporter: r, asks: o.Asks}
	ctx, a.span = r.startSpan(ctx, o)
	if o.Asks {
		a.Outcome = Started
		r.Observe(ctx, a.Observation)
	}
	return ctx, a
}

// Span is the attempt's span, for [Opening.WrittenBy] of an attempt that stores the summary later.
func (a *Attempt) Span() trace.SpanContext { return a.span.SpanContext() }

// Spent notes what the summarizer's calls used. They are paid for even where they led to nothing.
func (a *Attempt) Spent(result summarizer.Result) {
	a.Usage, a.Model = result.Usage, result.Model
	if model, ok := a.reporter.cfg.Registry.Lookup(result.Model); ok && model.Priced() {
		a.Cost = model.Cost(result.Usage)
	}
}

// Summarized notes the record that was written.
func (a *Attempt) Summarized(m *record.Metadata) {
	a.record = m
	a.RecordID, a.TokensAfter, a.Model = m.RecordID, m.CompactedTokens, m.Model
}

// Fail notes that the attempt failed. The error's type, for spans, metrics and log lines, follows
// from its chain: see [ErrPanicked] and the others.
func (a *Attempt) Fail(err error) { a.Outcome, a.Err = Failed, err }

// Log writes a line about the attempt's failure. It describes the error without its text, which may
// quote the conversation.
func (a *Attempt) Log(ctx context.Context, message string) {
	attrs := []slog.Attr{slog.String("trigger", string(a.Trigger)), slog.String(keyErrorType, errorType(a.Err))}
	var refused genai.APIError
	if errors.As(a.Err, &refused) {
		attrs = append(attrs, slog.Int("code", refused.Code), slog.String("status", refused.Status))
	}
	a.reporter.LogAbout(ctx, slog.LevelWarn, a.Session, message, attrs...)
}

// End ends the attempt's span, counts its outcome and passes it to the observer. It reports whether
// it did: only the first End or Abandon of an attempt has an effect.
func (a *Attempt) End(ctx context.Context) bool {
	if a.ended {
		return false
	}
	a.ended = true
	a.endSpan()
	a.count(ctx)
	a.reporter.Observe(ctx, a.Observation)
	return true
}

// Abandon ends the attempt without a report: another attempt has reported on the same record.
func (a *Attempt) Abandon() { a.ended = true }
