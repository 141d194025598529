package compaction

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// attempt is one compaction from its start until its outcome is known.
type attempt struct {
	*telemetry.Attempt
	// draft is the summary, nil while there is none.
	draft *draft
	// asks says that a summarizer is called for it.
	asks bool
}

func (s *CompactionSessionService) opening(st *sessionState, t task, sel selector.Selection) telemetry.Opening {
	return telemetry.Opening{
		Observation: telemetry.Observation{
			Session: telemetry.Session(st.ref), Trigger: t.trigger, Branch: sel.Branch, InvocationID: t.invocationID, Inline: t.inline,
			Events: len(sel.Events) + len(sel.Absorb), TokensBefore: sel.Tokens,
		},
		Threshold: st.prompts.Limits().Threshold,
	}
}

// begin starts an attempt that is about to call a summarizer.
func (s *CompactionSessionService) begin(ctx context.Context, st *sessionState, t task, sel selector.Selection) (context.Context, *attempt) {
	o := s.opening(st, t, sel)
	o.Asks = true
	o.Writer, o.Provider = s.writer(t), s.provider(t)
	ctx, a := s.policy.reporter.Start(ctx, o)
	return ctx, &attempt{Attempt: a, asks: true}
}

// resume starts an attempt to store the summary of an earlier one, which has reported what its calls used.
func (s *CompactionSessionService) resume(ctx context.Context, st *sessionState, t task, d *draft) (context.Context, *attempt) {
	t.trigger = d.meta.Trigger
	o := s.opening(st, t, selector.Selection{Branch: d.meta.Branch, Events: d.events, Tokens: d.tokens})
	o.Events += len(d.meta.Absorbed)
	o.WrittenBy = &d.span
	ctx, started := s.policy.reporter.Start(ctx, o)
	a := &attempt{Attempt: started}
	a.summarized(d)
	return ctx, a
}

// decline reports that a trigger was due and there was nothing to gain.
func (s *CompactionSessionService) decline(ctx context.Context, st *sessionState, t task, sel selector.Selection, reason string) {
	o := s.opening(st, t, sel)
	o.Writer, o.Provider = s.writer(t), s.provider(t)
	ctx, a := s.policy.reporter.Start(ctx, o)
	a.Outcome, a.Reason = telemetry.Declined, reason
	a.End(ctx)
}

// writer is the summarizer that a task asks.
func (s *CompactionSessionService) writer(t task) Summarizer {
	if t.extractive {
		return summarizer.Extractive{}
	}
	return s.policy.summarizer
}

// provider is what may know whose model writes the summary: the model, where the service made the
// summarizer for it, else the summarizer.
func (s *CompactionSessionService) provider(t task) any {
	if t.extractive || s.policy.Summarizer != nil {
		return s.writer(t)
	}
	return s.policy.Model
}

// summarized notes the summary.
func (a *attempt) summarized(d *draft) {
	a.draft = d
	a.Summarized(d.meta)
	if a.asks {
		d.span = a.Span()
	}
}

// guard runs a part of an attempt. If that panics, the attempt has failed, and the caller goes on.
func (s *CompactionSessionService) guard(ctx context.Context, st *sessionState, a *attempt, part func() Outcome) (outcome Outcome) {
	defer func() {
		if cause := recover(); cause != nil {
			outcome = s.failed(ctx, st, a, fmt.Errorf("%w: %v\n%s", errPanicked, cause, debug.Stack()))
		}
	}()
	return part()
}

// failed ends an attempt that failed.
func (s *CompactionSessionService) failed(ctx context.Context, st *sessionState, a *attempt, cause error) Outcome {
	a.Fail(failure(cause))
	dropped := errors.Is(cause, errDropped)
	attempts := &st.learned.Attempts
	attempts.Failed(time.Now())
	switch {
	case dropped:
		a.Log(ctx, "a summary is dropped: storage refuses it")
	case attempts.BeginsToFail():
		a.Log(ctx, "compaction begins to fail: the history stays as it is, and prompts grow")
	}
	if a.Inline {
		attempts.NoteInline(a.InvocationID)
	}
	return s.conclude(ctx, st, a, Failed, "")
}

// fail reports a panic outside of any attempt.
func (s *CompactionSessionService) fail(ctx context.Context, st *sessionState, t task, cause error) {
	ctx, a := s.policy.reporter.Start(ctx, s.opening(st, t, selector.Selection{}))
	s.failed(ctx, st, &attempt{Attempt: a}, cause)
}

// conclude ends an attempt: it remembers the outcome and reports it, with the calls that the summary
// gives up.
func (s *CompactionSessionService) conclude(ctx context.Context, st *sessionState, a *attempt, outcome Outcome, reason string) Outcome {
	a.Outcome, a.Reason = telemetry.Outcome(outcome), reason
	st.learned.Attempts.Concluded(reason, a.Err)
	if outcome.written() && st.learned.Attempts.Recovers() {
		s.policy.reporter.LogAbout(ctx, slog.LevelInfo, telemetry.Session(st.ref), "compaction works again")
	}
	if a.End(ctx) && outcome.written() {
		s.reportGivenUp(ctx, a)
	}
	return outcome
}

// settledElsewhere ends an attempt whose draft another attempt has reported on.
func (a *attempt) settledElsewhere(result settlement) Outcome {
	a.Abandon()
	if result.event == nil {
		return Discarded
	}
	return Stored
}
