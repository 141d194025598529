package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Attempt is one compaction from its start until its outcome is known. Its Observation is filled in
// as more is learned. It belongs to one goroutine at a time, which concludes it with one of
//
//	Wait      the summary waits for the next append      Waiting
//	Store     an event in storage has the summary        Stored
//	Decline   nothing to gain, or the caller is gone     Declined
//	Discard   the summary was written, and is obsolete   Discarded
//	Fail      an error, or a panic                       Failed
//	Abandon   another attempt has reported the summary   no outcome
type Attempt struct {
	Observation
	// Draft is the summary, nil while there is none.
	Draft *writer.Draft

	reporter *Reporter
	state    *sessions.State
	span     trace.Span
	asks     bool   // the attempt calls a summarizer
	eventID  string // of the event that stores the record, "" while none does
	ended    bool
}

// Begin starts an attempt that is about to call a summarizer. The caller works with the context
// that it returns, so that calls are traced below the attempt.
func (r *Reporter) Begin(ctx context.Context, st *sessions.State, of writer.Job, window selector.Selection) (context.Context, *Attempt) {
	a := r.attempt(st, of, window)
	ctx = a.start(ctx, r.writerAttributes(of))
	a.asks, a.Outcome = true, Started
	r.Observe(ctx, a.Observation)
	return ctx, a
}

// Resume starts an attempt to store the summary of an earlier one. The earlier one has reported
// what the summarizer's calls used.
func (r *Reporter) Resume(ctx context.Context, st *sessions.State, of writer.Job, d *writer.Draft) (context.Context, *Attempt) {
	of.Trigger = d.Meta.Trigger
	a := r.attempt(st, of, selector.Selection{Branch: d.Meta.Branch, Events: d.Events, Tokens: d.Tokens})
	a.Events += len(d.Meta.Absorbed)
	ctx = a.start(ctx, attributes{attribute.Bool(keyLateStore, true)}, trace.WithLinks(trace.Link{SpanContext: d.Span}))
	a.summarized(d)
	return ctx, a
}

// Decline reports that a trigger was due and there was nothing to gain.
func (r *Reporter) Decline(ctx context.Context, st *sessions.State, of writer.Job, window selector.Selection, reason string) {
	a := r.attempt(st, of, window)
	ctx = a.start(ctx, r.writerAttributes(of))
	a.end(ctx, Declined, reason)
}

// Fail reports a failure outside of any attempt: a panic.
func (r *Reporter) Fail(ctx context.Context, st *sessions.State, of writer.Job, cause error) {
	a := r.attempt(st, of, selector.Selection{})
	ctx = a.start(ctx, nil)
	a.Fail(ctx, cause)
}

func (r *Reporter) attempt(st *sessions.State, of writer.Job, window selector.Selection) *Attempt {
	return &Attempt{reporter: r, state: st, Observation: Observation{
		Session: st.Ref, Trigger: of.Trigger, Branch: window.Branch, InvocationID: of.InvocationID, Inline: of.Inline,
		Events: len(window.Events) + len(window.Absorb), TokensBefore: window.Tokens,
		Economy: of.Economy,
	}}
}

// maxCalls is how many calls of a summarizer are believed for one summary. A window is read in some ten at most.
const maxCalls = 1_000

// Spent notes what the summarizer's calls used. They are paid for even where they led to nothing.
func (a *Attempt) Spent(ctx context.Context, result summarizer.Result) {
	a.Usage, a.Estimated = writer.Believable(result.Usage), writer.Believable(result.Estimated)
	a.Answers, a.Model = min(max(0, result.Calls), maxCalls), writer.ModelName(result.Model)
	if model, ok := a.reporter.cfg.Registry.Lookup(a.Model); ok && model.Priced() {
		a.Cost = model.Cost(a.Usage)
	}
	a.reporter.usage(ctx, a, result)
}

// Summarized notes the summary that the attempt has had written.
func (a *Attempt) Summarized(d *writer.Draft) {
	a.summarized(d)
	d.Span = a.span.SpanContext()
}

func (a *Attempt) summarized(d *writer.Draft) {
	a.Draft = d
	a.RecordID, a.TokensAfter, a.Model = d.Meta.RecordID, d.Meta.CompactedTokens, d.Meta.Model
	a.Kept, a.Invented = d.Meta.Kept, d.Meta.Invented
}

// Guard runs a part of an attempt. If that panics, the attempt has failed, and the caller goes on.
func (a *Attempt) Guard(ctx context.Context, part func() writer.Result) (result writer.Result) {
	defer func() {
		if cause := recover(); cause != nil {
			result = a.Fail(ctx, Panicked(cause))
		}
	}()
	return part()
}

// Panicked is the error for a recovered panic, with its stack.
func Panicked(cause any) error {
	return fmt.Errorf("%w: %v\n%s", writer.ErrPanicked, cause, debug.Stack())
}

// Fail concludes an attempt that failed. A change of state is logged: that attempts begin to fail,
// or that a summary is lost.
func (a *Attempt) Fail(ctx context.Context, cause error) writer.Result {
	a.Err = Mark(cause)
	attempts := &a.state.Learned.Attempts
	attempts.Failed(time.Now())
	switch {
	case errors.Is(cause, ErrDropped):
		a.log(ctx, "a summary is dropped: storage refuses it")
	case attempts.IsNews(true):
		a.log(ctx, "compaction begins to fail: the history stays as it is, and prompts grow")
	}
	if a.Inline {
		attempts.NoteInline(a.InvocationID)
	}
	a.conclude(ctx, Failed, "")
	return writer.Failed
}

// log writes a line about the attempt's failure. It describes the error without its text, which may
// quote the conversation.
func (a *Attempt) log(ctx context.Context, message string) {
	attrs := []slog.Attr{slog.String("trigger", string(a.Trigger)), slog.String(keyErrorType, errorType(a.Err))}
	var refused genai.APIError
	if errors.As(a.Err, &refused) {
		attrs = append(attrs, slog.Int("code", refused.Code), slog.String("status", refused.Status))
	}
	a.reporter.logAbout(ctx, slog.LevelWarn, a.Session, message, attrs...)
}

// Decline concludes an attempt from which there was nothing to gain.
func (a *Attempt) Decline(ctx context.Context, reason string) writer.Result {
	a.conclude(ctx, Declined, reason)
	return writer.Declined
}

// Discard concludes an attempt whose summary is of no use any more.
func (a *Attempt) Discard(ctx context.Context, reason string) writer.Result {
	a.conclude(ctx, Discarded, reason)
	return writer.Discarded
}

// Wait concludes an attempt whose summary waits for the next append.
func (a *Attempt) Wait(ctx context.Context) writer.Result { return a.written(ctx, Waiting) }

// Store concludes an attempt whose summary is stored by an event.
func (a *Attempt) Store(ctx context.Context, eventID string) writer.Result {
	a.eventID = eventID
	return a.written(ctx, Stored)
}

func (a *Attempt) written(ctx context.Context, outcome Outcome) writer.Result {
	a.state.Learned.Succeeded()
	if a.state.Learned.Attempts.IsNews(false) {
		a.reporter.logAbout(ctx, slog.LevelInfo, a.Session, "compaction works again")
	}
	if a.conclude(ctx, outcome, "") {
		a.reportGivenUp(ctx)
	}
	return writer.Written
}

// Abandon ends the attempt without a report: another attempt has reported on the same record.
func (a *Attempt) Abandon() { a.ended = true }

// conclude remembers the outcome and reports it.
func (a *Attempt) conclude(ctx context.Context, outcome Outcome, reason string) (first bool) {
	a.state.Learned.Attempts.Concluded(reason, a.Err)
	return a.end(ctx, outcome, reason)
}

// end ends the attempt's span, counts its outcome and passes it to the observer. It reports whether
// it did: only the first end of an attempt has an effect.
func (a *Attempt) end(ctx context.Context, outcome Outcome, reason string) (first bool) {
	if a.ended {
		return false
	}
	a.ended, a.Outcome, a.Reason = true, outcome, reason
	a.endSpan()
	a.count(ctx)
	a.reporter.Observe(ctx, a.Observation)
	return true
}

// reportGivenUp reports the calls that a summary hides although somebody might still answer them.
// It does so once, when the view shows the summary for the first time.
func (a *Attempt) reportGivenUp(ctx context.Context) {
	for _, ev := range a.Draft.TakeGivenUp() {
		a.reporter.Observe(ctx, Observation{
			Outcome: GivenUp, Session: a.Session, Trigger: a.Trigger, Branch: ev.Branch, InvocationID: ev.InvocationID,
			Inline: a.Inline, RecordID: a.RecordID, Calls: adk.CallIDs(ev),
			Reason: "too many calls wait for an answer, and these are the oldest",
		})
	}
}
