package compactor

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
)

// maxSteps bounds the steps of one job. It is far more than any backlog needs, and ends a job that,
// against all design, makes no progress.
const maxSteps = 1000

// compactor owns one job on one session. It takes a snapshot, plans one step, carries the step out,
// and notes what was learned, again and again, until nothing is due or an attempt fails. One
// goroutine at a time uses it, and that goroutine holds the session's slot.
type compactor struct {
	engine *Engine
	h      *sessions.Handle
	// job is what the work is for. If the model fails a turn at the hard limit, job.Extractive is
	// set on the way.
	job writer.Job

	// chosen is the window for whose summary room is being made, nil for none. worthless means that
	// not even the extractive summarizer made the window shorter.
	chosen    *candidate
	worthless bool
	// carriedOn means that the job has carried out a step.
	carriedOn bool
}

// compactDue compacts a handle's session until nothing is due, or an attempt fails.
func (e *Engine) compactDue(ctx context.Context, h *sessions.Handle, j writer.Job) {
	defer e.survive(ctx, h.State, j)
	defer e.storage.Remember(h.State)
	e.reporter.Unreadable(ctx, h)
	c := &compactor{engine: e, h: h, job: j}
	if !c.mayStart() || !e.storage.StoreLeftovers(ctx, h, j) {
		return
	}
	if e.storage.MustWait(j) && len(h.State.Waiting.All()) > 0 {
		c.h = h.Ahead()
	}
	for range maxSteps {
		if c.chosen == nil && c.givesWay(ctx) {
			return
		}
		looked := c.h.Turns.Checking()
		next := plan(c.snapshot())
		if missing := next.candidate.missing; c.chosen == nil && missing >= 0 {
			looked(missing)
		}
		if !c.carryOut(ctx, next) {
			return
		}
		c.carriedOn = true
	}
}

// snapshot is the session as it is now, for the next step.
func (c *compactor) snapshot() snapshot {
	s := c.engine.snapshot(c.h, c.job)
	s.chosen, s.worthless = c.chosen, c.worthless
	return s
}

// mayStart reports whether the job may make an attempt now. It may not while the service backs off
// from failures, and not if an attempt has failed in the turn that waits. At the hard limit it
// always may, then without a model.
func (c *compactor) mayStart() bool {
	st := c.h.State
	if !st.Learned.Attempts.BacksOff(time.Now()) && !(c.job.Inline && st.Learned.Attempts.TriedInline(c.job.InvocationID)) {
		return true
	}
	c.job.Extractive = c.job.Extractive || c.job.Forced
	return c.job.Forced
}

// givesWay reports whether the job ends here although more may be due: its caller is gone, the
// session was deleted, the turn that waits can go on, or a turn at the hard limit waits for this
// background job. In the last two cases a new background job continues the work.
func (c *compactor) givesWay(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil || c.h.State.Deleted():
	case c.carriedOn && c.job.Inline && c.turnCanGoOn():
		c.engine.background(ctx, c.h, writer.Job{InvocationID: c.job.InvocationID})
	case !c.job.Inline && c.h.State.Line.Prioritized():
		c.engine.background(ctx, c.h, c.job)
	default:
		return false
	}
	return true
}

// turnCanGoOn reports whether the turn has waited long enough: until the timeout, or, if only the
// hard limit made it wait, until the prompt is under that limit. A prompt that is over the limit at
// the timeout is still made smaller, without a model.
func (c *compactor) turnCanGoOn() bool {
	late := time.Now().After(c.job.Deadline)
	if !c.job.Forced {
		return late
	}
	if c.engine.cfg.Synchronous && !late {
		return false
	}
	c.h.CatchUp()
	return !c.h.Meter.AnyOverLimit()
}

// carryOut does one step and notes what it taught. It reports whether another step follows.
func (c *compactor) carryOut(ctx context.Context, st step) (more bool) {
	c.job.Trigger = st.candidate.trigger
	c.job.Extractive = st.extractive
	if st.action == nothing || st.action == wait {
		c.end(ctx, st)
		return false
	}
	if c.engine.storage.MustWait(c.job) {
		c.h = c.h.Ahead()
	}
	c.chosen, c.worthless = nil, false
	got, _ := c.summarizeWindow(ctx, st)
	switch st.after(got, c.job, c.h.State.Learned.Attempts.Hanging()) {
	case goOn:
		switch {
		case got != writer.Written:
		case st.makesRoom:
			c.chosen = &st.candidate
		case st.action == summarize:
			c.raiseFloor(st.candidate)
		}
		return true
	case goOnWithoutModel:
		c.job.Extractive = true
		return true
	case shrinkInstead:
		c.chosen, c.worthless = &st.candidate, true
		return true
	case endAsPlanned:
		c.end(ctx, *st.otherwise)
	}
	return false
}

// continuation is how a job goes on after a step.
type continuation int

const (
	stop             continuation = iota // the job is over
	goOn                                 // plan the next step
	goOnWithoutModel                     // plan the next step; no model is asked from here on
	shrinkInstead                        // nothing makes the window shorter: make summaries shorter
	endAsPlanned                         // carry out step.otherwise, which ends the job
)

// after decides how the job goes on, given what became of the step.
func (st *step) after(got writer.Result, j writer.Job, hanging bool) continuation {
	if st.otherwise != nil { // summaries are made shorter because there is no window
		switch {
		case got == writer.Written:
			return goOn
		case !j.Extractive && (got == writer.Failed || got == writer.Declined && st.overLimit):
			return goOnWithoutModel // the model fails, or does not make it shorter
		default:
			return endAsPlanned
		}
	}
	switch {
	case got == writer.Written:
		return goOn
	case got == writer.Declined && j.Forced && j.Extractive:
		return shrinkInstead
	case got == writer.Declined && j.Forced, got == writer.Failed && j.Forced && !j.Extractive:
		return goOnWithoutModel
	case got == writer.Declined && !hanging:
		return goOn // the window must grow before it is tried again; something else may be due
	default:
		return stop
	}
}

// end ends a job that found nothing to do, and reports the reason unless it was reported before.
func (c *compactor) end(ctx context.Context, st step) {
	if st.action == wait {
		c.h.State.Learned.Windows.DeferUntil(st.candidate.reader, st.until)
	}
	if st.reason != "" {
		c.engine.reporter.Decline(ctx, c.h.State, c.job, st.candidate.Selection, st.reason)
	}
}

// raiseFloor holds the token trigger back after a compaction that left the prompt over the
// threshold.
func (c *compactor) raiseFloor(done candidate) {
	s := c.snapshot()
	if floor := s.floorAfter(done); floor > 0 {
		c.h.State.Learned.Windows.RaiseFloor(done.reader, floor)
	}
}
