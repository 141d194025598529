package compaction

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
)

// maxSteps bounds how many steps one job takes: far more than any backlog needs, and the end of a job
// that, against all design, makes no progress.
const maxSteps = 1000

// compactor owns one job on one session. It takes a snapshot, plans one step, carries the step out, and
// notes what was learned, again and again, until nothing is due or an attempt fails. One goroutine at a
// time uses it, and that goroutine holds the session's slot.
type compactor struct {
	*CompactionSessionService
	h *handle
	// task says what the job is for. A job that a turn waits for may give the model up on the way:
	// task.extractive is then set.
	task task

	// chosen is the window whose summary room is being made for, nil for none, and worthless says that
	// not even the extractive summarizer made it shorter.
	chosen    *candidate
	worthless bool
	// carriedOn says that a step was carried out, so that the job has made progress.
	carriedOn bool
}

// compactDue does the work that is due for a handle's session, until nothing is, or an attempt fails.
func (s *CompactionSessionService) compactDue(ctx context.Context, h *handle, t task) {
	defer s.survive(ctx, h.state, t)
	defer s.remember(h.state)
	s.reportUnreadable(ctx, h)
	c := &compactor{CompactionSessionService: s, h: h, task: t}
	if !c.mayStart() || !s.storeLeftovers(ctx, h, t) {
		return
	}
	if s.mustWait(t) && len(h.state.waiting.All()) > 0 {
		c.h = h.ahead()
	}
	for range maxSteps {
		if c.chosen == nil && c.givesWay(ctx) {
			return
		}
		looked := c.h.turns.Checking()
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
	s := c.CompactionSessionService.snapshot(c.h, c.task)
	s.chosen, s.worthless = c.chosen, c.worthless
	return s
}

// mayStart reports whether an attempt may be made now: not while the service backs off from failures,
// and for a turn that waits only once. At the hard limit it may always be, without a model if need be.
func (c *compactor) mayStart() bool {
	st := c.h.state
	if !st.learned.Attempts.BacksOff(time.Now()) && !(c.task.inline && st.learned.Attempts.TriedInline(c.task.invocationID)) {
		return true
	}
	c.task.extractive = c.task.extractive || c.task.forced
	return c.task.forced
}

// givesWay reports whether the job ends here although more may be due: its caller has gone, the session
// was deleted, the turn that waits can go on, or a turn at the hard limit waits for a background job.
// In the last two cases a background job is put in line that continues.
func (c *compactor) givesWay(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil || c.h.state.isDeleted():
	case c.carriedOn && c.task.inline && c.turnCanGoOn():
		c.background(ctx, c.h, task{invocationID: c.task.invocationID})
	case !c.task.inline && c.h.state.line.Prioritized():
		c.background(ctx, c.h, c.task)
	default:
		return false
	}
	return true
}

// turnCanGoOn reports whether the turn that waits has waited long enough: until the time-out, or, where
// only the hard limit made it wait, until the prompt is under that. A prompt that is over the limit at
// the time-out is still made smaller, without a model.
func (c *compactor) turnCanGoOn() bool {
	late := time.Now().After(c.task.deadline)
	if !c.task.forced {
		return late
	}
	if c.policy.Synchronous && !late {
		return false
	}
	c.h.catchUp()
	return !c.h.meter.AnyOverLimit()
}

// carryOut does one step and notes what it taught. It reports whether another step may follow.
func (c *compactor) carryOut(ctx context.Context, st step) (more bool) {
	c.task.trigger = st.candidate.trigger
	c.task.extractive = st.extractive
	if st.action == nothing || st.action == wait {
		c.end(ctx, st)
		return false
	}
	if c.mustWait(c.task) {
		c.h = c.h.ahead()
	}
	c.chosen, c.worthless = nil, false
	got, _ := c.write(ctx, st)
	switch st.after(got, c.task, c.h.state.learned.Attempts.Hanging()) {
	case goOn:
		switch {
		case got != written:
		case st.makesRoom:
			c.chosen = &st.candidate
		case st.action == summarize:
			c.raiseFloor(st.candidate)
		}
		return true
	case goOnWithoutModel:
		c.task.extractive = true
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
func (st *step) after(got result, t task, hanging bool) continuation {
	if st.otherwise != nil { // summaries are made shorter because there is no window
		switch {
		case got == written:
			return goOn
		case !t.extractive && (got == failed || got == declined && st.overLimit):
			return goOnWithoutModel // the model fails, or does not make it shorter
		default:
			return endAsPlanned
		}
	}
	switch {
	case got == written:
		return goOn
	case got == declined && t.forced && t.extractive:
		return shrinkInstead
	case got == declined && t.forced, got == failed && t.forced && !t.extractive:
		return goOnWithoutModel
	case got == declined && !hanging:
		return goOn // the window must grow before it is tried again; something else may be due
	default:
		return stop
	}
}

// end ends a job that found nothing to do, and reports why if that is not told yet.
func (c *compactor) end(ctx context.Context, st step) {
	if st.action == wait {
		c.h.state.learned.Windows.DeferUntil(st.candidate.reader, st.until)
	}
	if st.reason != "" {
		c.decline(ctx, c.h.state, c.task, st.candidate.Selection, st.reason)
	}
}

// raiseFloor holds the token trigger back after a compaction that left the prompt over the threshold.
func (c *compactor) raiseFloor(done candidate) {
	s := c.snapshot()
	if floor := s.floorAfter(done); floor > 0 {
		c.h.state.learned.Windows.RaiseFloor(done.reader, floor)
	}
}

// result is what became of writing one summary, for the one who decides what comes next. What people
// are told of it is an [Outcome].
type result int

const (
	written   result = iota // the summary is stored, or waits for the next append: build on it
	declined                // there was nothing to gain, or nobody waits for it any more
	failed                  // it could not be written or stored
	discarded               // it was written, and is of no use any more
)

// resultOf is what an outcome means for what comes next.
func resultOf(o Outcome) result {
	switch o {
	case Stored, Waiting:
		return written
	case Failed:
		return failed
	case Declined:
		return declined
	default:
		return discarded
	}
}

// write carries out a step that writes a summary. It returns the summary too, nil if there is none.
func (c *compactor) write(ctx context.Context, st step) (result, *draft) {
	t := c.task
	t.shorter = st.shorter
	if st.action != summarize {
		t.trigger, t.kind, t.focus, t.note, t.pack = record.TriggerMerge, "", "", "", ""
	}
	return c.summarizeWindow(ctx, t, st.window)
}

// summarizeWindow has the summary of a window written and stores it.
func (c *compactor) summarizeWindow(ctx context.Context, t task, window selector.Selection) (result, *draft) {
	st := c.h.state
	ctx, a := c.begin(ctx, st, t, window)
	outcome := c.guard(ctx, st, a, func() Outcome {
		d, outcome := c.writeDraft(ctx, t, window, a)
		if d == nil {
			return outcome
		}
		return c.storeDraft(ctx, c.h, t, a, d)
	})
	if !outcome.written() {
		return resultOf(outcome), nil
	}
	st.learned.Windows.WorthTrying(window.Key())
	return written, a.draft
}

// writeDraft asks the summarizer, and puts what it wrote in the line of drafts that are not stored yet.
// The draft is nil if there is none; then the outcome has been reported.
func (c *compactor) writeDraft(ctx context.Context, t task, window selector.Selection, a *attempt) (*draft, Outcome) {
	st, began := c.h.state, time.Now()
	d, answer, err := c.summarize(ctx, c.h, t, window)
	a.Duration = time.Since(began)
	a.Spent(answer)
	if d != nil {
		a.summarized(d)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, errHanging) && !t.forced && !t.byHand) {
		// Whoever waited for it has gone, or a call is out already: neither says that the summarizer fails.
		return nil, c.conclude(ctx, st, a, Declined, err.Error())
	}
	if err != nil {
		return nil, c.failed(ctx, st, a, err)
	}
	if d.meta.CompactedTokens >= window.Tokens {
		st.learned.Windows.NotShorter(window.Key(), window.Tokens)
		return nil, c.conclude(ctx, st, a, Declined, fmt.Sprintf("summary is not shorter: %d tokens for %d", d.meta.CompactedTokens, window.Tokens))
	}
	if !st.waiting.Add(d) {
		return nil, c.conclude(ctx, st, a, Discarded, errDeleted.Error())
	}
	c.h.meter.Learn(window.Branch)
	return d, ""
}

// remember keeps the session's state alive while it has something to remember.
func (s *CompactionSessionService) remember(st *sessionState) {
	if givenUp := s.states.remember(st); givenUp != nil {
		s.discardWaiting(context.Background(), givenUp, "too many sessions are remembered")
	}
}
