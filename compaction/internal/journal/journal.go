// Package journal follows attempts to compact a session. It notes what each one teaches (package
// learned) and reports it (package telemetry). Each attempt begins once and is concluded once:
//
//	ctx, a := journal.Begin(ctx, state, job, window)
//	a.Summarized(draft)
//	a.Store(ctx, eventID)   // or Wait, Decline, Discard, Fail
package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/draft"
	"github.com/adk-go-ext/longsession/compaction/internal/job"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// ErrCompaction is compaction.ErrCompaction, which marks every error that an observer gets.
var ErrCompaction = errors.New("compaction failed")

// ErrDropped marks the error of the last try to store a summary.
var ErrDropped = errors.New("summary is dropped")

// Mark wraps an error so that errors.Is finds ErrCompaction in it, and the cause.
func Mark(cause error) error {
	if errors.Is(cause, ErrCompaction) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrCompaction, cause)
}

// Journal belongs to one service, and is safe for concurrent use.
type Journal struct {
	Reporter *telemetry.Reporter
	// Summarizer writes the summaries. Provider may know whose model that is: it is the model if
	// the service made the summarizer for it, else the summarizer.
	Summarizer writer.Summarizer
	Provider   any
}

// Attempt is one compaction from its start until its outcome is known. It belongs to one goroutine
// at a time.
type Attempt struct {
	*telemetry.Attempt
	// Draft is the summary, nil while there is none.
	Draft *draft.Draft

	journal *Journal
	state   *sessions.State
	asks    bool // the attempt calls a summarizer
}

// Writer is the summarizer that a job asks.
func (j *Journal) Writer(of job.Job) writer.Summarizer {
	if of.Extractive {
		return summarizer.Extractive{}
	}
	return j.Summarizer
}

func (j *Journal) opening(st *sessions.State, of job.Job, window selector.Selection) telemetry.Opening {
	return telemetry.Opening{
		Observation: telemetry.Observation{
			Session: telemetry.Session(st.Ref), Trigger: of.Trigger, Branch: window.Branch, InvocationID: of.InvocationID, Inline: of.Inline,
			Events: len(window.Events) + len(window.Absorb), TokensBefore: window.Tokens,
		},
		Threshold: st.Prompts.Limits().Threshold,
	}
}

// openingOf is opening for an attempt that names its summarizer.
func (j *Journal) openingOf(st *sessions.State, of job.Job, window selector.Selection) telemetry.Opening {
	o := j.opening(st, of, window)
	o.Writer, o.Provider = j.Writer(of), j.Provider
	if of.Extractive {
		o.Provider = o.Writer
	}
	return o
}

// Begin starts an attempt that is about to call a summarizer. The caller works with the context
// that it returns, so that calls are traced below the attempt.
func (j *Journal) Begin(ctx context.Context, st *sessions.State, of job.Job, window selector.Selection) (context.Context, *Attempt) {
	o := j.openingOf(st, of, window)
	o.Asks = true
	ctx, a := j.Reporter.Start(ctx, o)
	return ctx, &Attempt{Attempt: a, journal: j, state: st, asks: true}
}

// Resume starts an attempt to store the summary of an earlier one. The earlier one has reported
// what the summarizer's calls used.
func (j *Journal) Resume(ctx context.Context, st *sessions.State, of job.Job, d *draft.Draft) (context.Context, *Attempt) {
	of.Trigger = d.Meta.Trigger
	o := j.opening(st, of, selector.Selection{Branch: d.Meta.Branch, Events: d.Events, Tokens: d.Tokens})
	o.Events += len(d.Meta.Absorbed)
	o.WrittenBy = &d.Span
	ctx, started := j.Reporter.Start(ctx, o)
	a := &Attempt{Attempt: started, journal: j, state: st}
	a.Summarized(d)
	return ctx, a
}

// Decline reports that a trigger was due and there was nothing to gain.
func (j *Journal) Decline(ctx context.Context, st *sessions.State, of job.Job, window selector.Selection, reason string) {
	ctx, a := j.Reporter.Start(ctx, j.openingOf(st, of, window))
	a.Outcome, a.Reason = telemetry.Declined, reason
	a.End(ctx)
}

// Fail reports a failure outside of any attempt: a panic.
func (j *Journal) Fail(ctx context.Context, st *sessions.State, of job.Job, cause error) {
	ctx, a := j.Reporter.Start(ctx, j.opening(st, of, selector.Selection{}))
	(&Attempt{Attempt: a, journal: j, state: st}).Fail(ctx, cause)
}

// Summarized notes the summary.
func (a *Attempt) Summarized(d *draft.Draft) {
	a.Draft = d
	a.Attempt.Summarized(d.Meta)
	if a.asks {
		d.Span = a.Span()
	}
}

// Guard runs a part of an attempt. If that panics, the attempt has failed, and the caller goes on.
func (a *Attempt) Guard(ctx context.Context, part func() job.Result) (result job.Result) {
	defer func() {
		if cause := recover(); cause != nil {
			result = a.Fail(ctx, Panicked(cause))
		}
	}()
	return part()
}

// Panicked is the error for a recovered panic, with its stack.
func Panicked(cause any) error {
	return fmt.Errorf("%w: %v\n%s", telemetry.ErrPanicked, cause, debug.Stack())
}

// Fail concludes an attempt that failed. A change of state is logged: that attempts begin to fail,
// or that a summary is lost.
func (a *Attempt) Fail(ctx context.Context, cause error) job.Result {
	a.Attempt.Fail(Mark(cause))
	attempts := &a.state.Learned.Attempts
	attempts.Failed(time.Now())
	switch {
	case errors.Is(cause, ErrDropped):
		a.Log(ctx, "a summary is dropped: storage refuses it")
	case attempts.BeginsToFail():
		a.Log(ctx, "compaction begins to fail: the history stays as it is, and prompts grow")
	}
	if a.Inline {
		attempts.NoteInline(a.InvocationID)
	}
	a.conclude(ctx, telemetry.Failed, "")
	return job.Failed
}

// Decline concludes an attempt from which there was nothing to gain.
func (a *Attempt) Decline(ctx context.Context, reason string) job.Result {
	a.conclude(ctx, telemetry.Declined, reason)
	return job.Declined
}

// Discard concludes an attempt whose summary is of no use any more.
func (a *Attempt) Discard(ctx context.Context, reason string) job.Result {
	a.conclude(ctx, telemetry.Discarded, reason)
	return job.Discarded
}

// Wait concludes an attempt whose summary waits for the next append.
func (a *Attempt) Wait(ctx context.Context) job.Result {
	a.written(ctx, telemetry.Waiting)
	return job.Written
}

// Store concludes an attempt whose summary is stored by an event.
func (a *Attempt) Store(ctx context.Context, eventID string) job.Result {
	a.EventID = eventID
	a.written(ctx, telemetry.Stored)
	return job.Written
}

func (a *Attempt) written(ctx context.Context, outcome telemetry.Outcome) {
	a.state.Learned.Succeeded()
	if a.state.Learned.Attempts.Recovers() {
		a.journal.Reporter.LogAbout(ctx, slog.LevelInfo, telemetry.Session(a.state.Ref), "compaction works again")
	}
	if a.conclude(ctx, outcome, "") {
		a.reportGivenUp(ctx)
	}
}

// conclude remembers the outcome and reports it, once.
func (a *Attempt) conclude(ctx context.Context, outcome telemetry.Outcome, reason string) (first bool) {
	a.Outcome, a.Reason = outcome, reason
	a.state.Learned.Attempts.Concluded(reason, a.Err)
	return a.End(ctx)
}

// reportGivenUp reports the calls that a summary hides although somebody might still answer them.
// It does so once, when the view shows the summary for the first time.
func (a *Attempt) reportGivenUp(ctx context.Context) {
	if a.Draft == nil {
		return
	}
	events := a.Draft.GivenUp
	a.Draft.GivenUp = nil
	for _, ev := range events {
		a.journal.Reporter.Observe(ctx, telemetry.Observation{
			Outcome: telemetry.GivenUp, Session: a.Session, Trigger: a.Trigger, Branch: ev.Branch, InvocationID: ev.InvocationID,
			Inline: a.Inline, RecordID: a.RecordID, Calls: adk.CallIDs(ev),
			Reason: "too many calls wait for an answer, and these are the oldest",
		})
	}
}
