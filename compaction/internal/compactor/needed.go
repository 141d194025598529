package compactor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/adk-go-ext/longsession/compaction/internal/queue"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// IfNeeded compacts a session until nothing is due, once the work under way is done.
func (e *Engine) IfNeeded(ctx context.Context, ref adk.SessionRef) (result Result, err error) {
	st := e.sessions.Of(ref)
	err = e.queue.ByHand(ctx, st.Line, func() error {
		result, err = e.compactIfDue(ctx, st)
		return err
	})
	if errors.Is(err, queue.ErrClosed) {
		err = telemetry.Mark(err)
	}
	result.settle()
	return result, err
}

// compactIfDue is IfNeeded for a caller that holds the session's slot.
func (e *Engine) compactIfDue(ctx context.Context, st *sessions.State) (result Result, err error) {
	h, err := e.sessions.Handle(ctx, st.Ref)
	if err != nil {
		return result, err
	}
	defer e.storage.Remember(st)
	j := writer.Job{ByHand: true}
	defer func() {
		if cause := recover(); cause != nil {
			err = telemetry.Mark(fmt.Errorf("%w: %v", writer.ErrPanicked, cause))
			e.reporter.Fail(ctx, st, j, err)
		}
	}()
	e.reporter.Unreadable(ctx, h)
	result.Skipped = true
	result.BeforeTokens, result.BeforeEvents = extentOf(h)
	defer func() { result.AfterTokens, result.AfterEvents = extentOf(h) }()
	if !e.storage.StoreLeftovers(ctx, h, j) {
		return result, cmp.Or(ctx.Err(), st.Learned.Attempts.Status().Err)
	}
	if due, _, reason := e.Prospect(ctx, h); !due && !e.waitsForTurnOnly(h) {
		result.Reason = reason
		return result, nil
	}
	j.Forced = e.cfg.automatic() && h.Meter.AnyOverLimit()
	c := &compactor{engine: e, h: h, job: j, wrote: result.wrote}
	for range maxSteps {
		if ctx.Err() != nil { // each further step would be planned, reported and declined for that
			break
		}
		next := c.planNext()
		if next.action == nothing || next.action == wait {
			result.Reason = cmp.Or(result.Reason, next.reason)
			break
		}
		if !c.carryOut(ctx, next) {
			break
		}
	}
	switch attempts := st.Learned.Attempts.Status(); {
	case ctx.Err() != nil:
		return result, ctx.Err()
	case attempts.Failures > 0 && attempts.Err != nil:
		return result, attempts.Err
	case result.Skipped:
		result.Reason = cmp.Or(attempts.Reason, result.Reason)
	default:
		result.Reason = ""
	}
	return result, nil
}

// waitsForTurnOnly reports whether a window is due and only the end of the turn is missing, for which a
// caller need not wait.
func (e *Engine) waitsForTurnOnly(h *sessions.Handle) bool {
	c, err := e.prospect(h)
	return err == nil && !c.Empty() && e.waitsFor(h, c, nil) == ""
}
