package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/hanging"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// errForeign is what is wrong with a summary of another implementation.
var errForeign = fmt.Errorf("%w: another implementation of ADR-009 stored it as a message, beside the events that it summarizes", record.ErrMalformed)

// Unreadable reports the records that cannot be read, each once. The caller holds the session's
// slot.
func (r *Reporter) Unreadable(ctx context.Context, h *sessions.Handle) {
	if h.View.State().Unreadable == 0 {
		return
	}
	found := 0
	for _, ev := range h.View.Raw() {
		_, err := record.From(ev)
		if record.IsForeign(ev) {
			err = errForeign
		}
		if err == nil || !h.State.Learned.Events.FirstReport(ev) {
			continue
		}
		found++
		r.Observe(ctx, Observation{
			Outcome: Unreadable, Session: h.State.Ref, Branch: ev.Branch,
			Err: Mark(fmt.Errorf("record in event %q is ignored: %w", ev.ID, err)),
		})
	}
	if found > 0 {
		r.logAbout(ctx, slog.LevelWarn, h.State.Ref, "compaction records cannot be read: they hide nothing", slog.Int("records", found))
	}
}

// errBeside is what is wrong where ADK's own compaction is on, too.
var errBeside = errors.New("ADK's own compaction has written it, and it hides nothing here: remove EventsCompactionConfig (runner.Config.Compaction)")

// Beside reports, once for each service, that ADK's own compaction has appended a record to a session.
func (r *Reporter) Beside(ctx context.Context, st *sessions.State, ev *session.Event) {
	if r.beside.Swap(true) {
		return
	}
	r.logAbout(ctx, slog.LevelWarn, st.Ref, "ADK's own compaction is on, too, and its summaries are paid for in vain: remove EventsCompactionConfig (runner.Config.Compaction)")
	r.Observe(ctx, Observation{
		Outcome: Unreadable, Session: st.Ref, Branch: ev.Branch, InvocationID: ev.InvocationID,
		Err: Mark(fmt.Errorf("record in event %q is ignored: %w", ev.ID, errBeside)),
	})
}

// Misreport reports a provider's count that cannot be right: once for each agent, and again after
// some counts that are believed. A count that is too low is only logged, because the agent may be
// shown little of the history, which is in order.
func (r *Reporter) Misreport(ctx context.Context, h *sessions.Handle, ev *session.Event, class adk.Class) {
	d, news := h.Meter.Doubt(ev, class)
	if !news {
		return
	}
	about := h.State.Ref
	attrs := []slog.Attr{slog.Int("reported", d.Counted), slog.Int("estimated", d.Estimated), slog.String("agent", ev.Author)}
	if !d.TooHigh {
		r.logAbout(ctx, slog.LevelInfo, about, "a prompt is counted far below its estimate: the estimate is followed", attrs...)
		return
	}
	r.logAbout(ctx, slog.LevelWarn, about, "a prompt is counted at more than a compaction could change: the estimate is followed", attrs...)
	r.Observe(ctx, Observation{
		Outcome: Misreported, Session: about, Branch: ev.Branch, InvocationID: ev.InvocationID, TokensBefore: d.Estimated,
		Reason: fmt.Sprintf("the provider counts %d tokens for a prompt of %s that is estimated at %d: instructions alone would exceed the hard limit of %d",
			d.Counted, ev.Author, d.Estimated, h.State.Prompts.Limits().HardLimit),
	})
}

// CutFailure reports, once for each session, that the app's Cut function failed for an event, which is
// shown as it is stored. No lock is held.
func (r *Reporter) CutFailure(ctx context.Context, st *sessions.State, cause error) {
	if cause == nil {
		return
	}
	kind := "wrong_event"
	if errors.Is(cause, sessions.ErrCutPanicked) {
		kind = errorTypePanic
	}
	r.logAbout(ctx, slog.LevelWarn, st.Ref, "Config.Cut fails: events that it fails for are shown as they are stored", slog.String(keyErrorType, kind))
	r.Observe(ctx, Observation{Outcome: CutFailed, Session: st.Ref, Err: Mark(cause)})
}

// usage reports that a summarizer reports a usage that no call can have, or too many calls, once until it reports another
// one. What is charged is the nearest usage that a call can have.
func (r *Reporter) usage(ctx context.Context, a *Attempt, by summarizer.Result) {
	type report struct {
		Usage, Estimated tokens.Usage
		Calls            int
	}
	reported, charged := report{by.Usage, by.Estimated, by.Calls}, report{a.Usage, a.Estimated, a.Answers}
	switch impossible := charged != reported; {
	case impossible && !r.usageDoubted.Swap(true):
		r.logAbout(ctx, slog.LevelWarn, a.Session, "the summarizer reports a usage that no call can have", slog.String("model", a.Model))
		r.Observe(ctx, Observation{
			Outcome: Misreported, Session: a.Session, Branch: a.Branch, InvocationID: a.InvocationID, Model: a.Model,
			Reason: fmt.Sprintf("the summarizer reports %+v, which no call can have: %+v is charged", reported, charged),
		})
	case !impossible && reported != report{}:
		r.usageDoubted.Store(false)
	}
}

// Values logs that no values were taken from messages, because the app's Redact function did not return in time or
// because something panicked, or that they are taken again: once for each change, with nothing of the messages.
func (r *Reporter) Values(ctx context.Context, st *sessions.State, lost error) {
	switch {
	case lost != nil && !r.valuesLost.Swap(true):
		kind := errorTypePanic
		if errors.Is(lost, hanging.Err) {
			kind = "timeout"
		}
		r.logAbout(ctx, slog.LevelWarn, st.Ref, "no exact values are taken from messages", slog.String(keyErrorType, kind))
	case lost == nil && r.valuesLost.Swap(false):
		r.logAbout(ctx, slog.LevelInfo, st.Ref, "exact values are taken from messages again")
	}
}

// Leases logs that leases cannot be had, or can be had again: once for each change.
func (r *Reporter) Leases(ctx context.Context, st *sessions.State, cause error) {
	switch {
	case cause != nil && !r.leasesLost.Swap(true):
		r.logAbout(ctx, slog.LevelWarn, st.Ref, "no lease on a session can be had: several processes may pay for the same summary", slog.String(keyErrorType, errorType(cause)))
	case cause == nil && r.leasesLost.Swap(false):
		r.logAbout(ctx, slog.LevelInfo, st.Ref, "leases on sessions can be had again")
	}
}

// Orphan reports that a late answer is shown without its call.
func (r *Reporter) Orphan(ctx context.Context, st *sessions.State, ev *session.Event, cause error) {
	r.Observe(ctx, Observation{
		Outcome: Failed, Session: st.Ref, Branch: ev.Branch, InvocationID: ev.InvocationID, Err: Mark(cause),
	})
}
