package compactor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/queue"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/selector"
)

// Choice selects what a person has asked to be summarized in a branch.
type Choice func(in selector.Input, p selector.Params, branch string) selector.Selection

// KeepInvocations chooses everything complete but the newest invocations.
func KeepInvocations(keep int) Choice {
	return func(in selector.Input, p selector.Params, branch string) selector.Selection {
		return selector.Manual(in, p, branch, keep)
	}
}

// KeepEvents chooses everything but the newest events, whatever invocation they belong to.
func KeepEvents(keep int) Choice {
	return func(in selector.Input, p selector.Params, branch string) selector.Selection {
		p.Retain = keep
		return selector.Tokens(in, p, branch)
	}
}

// Extent is how much a view holds: tokens, estimated, and events.
type Extent struct{ Tokens, Events int }

// Result describes what a compaction by hand did.
type Result struct {
	Before, After Extent
	// RecordID and Summary are of the newest record written; "" if Skipped.
	RecordID, Summary string
	// Skipped means that no summary was written, and Reason says why.
	Skipped bool
	Reason  string
}

// ByHand compacts a session because a person asked for it, once the work under way is done.
func (e *Engine) ByHand(ctx context.Context, ref sessions.Ref, j writer.Job, choose Choice) (result Result, err error) {
	j.ByHand = true
	st := e.sessions.Of(ref)
	err = e.queue.ByHand(ctx, st.Line, func() error {
		result, err = e.compactNow(ctx, st, j, choose)
		return err
	})
	if errors.Is(err, queue.ErrClosed) {
		err = telemetry.Mark(err)
	}
	return result, err
}

// compactNow is ByHand for a caller that holds the session's slot.
func (e *Engine) compactNow(ctx context.Context, st *sessions.State, j writer.Job, choose Choice) (result Result, err error) {
	h, err := e.sessions.Handle(ctx, st.Ref)
	if err != nil {
		return result, err
	}
	defer e.storage.Remember(st)
	defer func() {
		if cause := recover(); cause != nil {
			err = telemetry.Mark(fmt.Errorf("%w: %v", writer.ErrPanicked, cause))
			e.reporter.Fail(ctx, st, j, err)
		}
	}()
	e.reporter.Unreadable(ctx, h)

	result.Before, result.Skipped = extentOf(h), true
	if !e.storage.StoreLeftovers(ctx, h, j) {
		result.After = result.Before
		return result, cmp.Or(ctx.Err(), st.Learned.Attempts.Status().Err)
	}
	tried := false
	for _, branch := range meter.BranchesOf(h.View.Events().Slice()) {
		c := &compactor{engine: e, h: h, job: j}
		attempted, failed := c.compactBranch(ctx, branch, choose, &result)
		tried = tried || attempted
		if err = failed; err != nil {
			break
		}
	}
	if !tried {
		e.reporter.Decline(ctx, st, j, selector.Selection{}, result.Reason)
	}
	result.After = extentOf(h)
	return result, err
}

// compactBranch writes one window of a branch after the other until none is left. It reports
// whether there was any.
func (c *compactor) compactBranch(ctx context.Context, branch string, choose Choice, result *Result) (tried bool, err error) {
	for range maxSteps {
		if c.chosen == nil {
			now := c.snapshot()
			now.params.MinTokens = func(string) int { return leastWindow() } // a person asked: try again
			window := choose(now.input, now.params, branch)
			if window.Empty() {
				if result.Skipped && result.Reason == "" {
					result.Reason = string(window.Reason)
				}
				return tried, nil
			}
			tried = true
			c.chosen = &candidate{Relief: selector.Relief{Selection: window}, trigger: c.job.Trigger}
		}
		next := plan(c.snapshot())
		switch got, d := c.summarizeWindow(ctx, next); got {
		case writer.Written:
			if next.makesRoom {
				continue
			}
			c.chosen = nil
			result.Skipped, result.Reason = false, ""
			result.RecordID, result.Summary = d.Meta.RecordID, d.Text
		case writer.Failed:
			return tried, c.h.State.Learned.Attempts.Status().Err
		default:
			if result.Skipped {
				result.Reason = c.h.State.Learned.Attempts.Status().Reason
			}
			return tried, nil
		}
	}
	return tried, nil
}

func extentOf(h *sessions.Handle) (extent Extent) {
	h.CatchUp()
	for ev := range h.View.Events().All() {
		extent.Tokens += promptsize.OfEvent(ev)
		extent.Events++
	}
	return extent
}
