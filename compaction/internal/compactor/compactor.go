package compactor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/storage"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
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
	// paying is what the economical trigger began with, while the rest of it is still to be summarized; nil for none.
	paying *candidate
	// state is the view of the latest snapshot.
	state *view.State
	// now is what the latest step was planned from, and ahead what the step has made of it; nil if only a new snapshot
	// can tell.
	now, ahead *snapshot
	// excess is how much of the view is at least to be summarized before the turn can go on, by estimate; 0 if that
	// has to be measured.
	excess int
	// carriedOn means that the job has carried out a step.
	carriedOn bool
	// wrote, if not nil, is told of every draft that was stored.
	wrote func(*writer.Draft)
	// waits is false once a snapshot has shown that no call waits for a checkpoint.
	waits bool
}

// compactDue compacts a handle's session until nothing is due, or an attempt fails.
func (e *Engine) compactDue(ctx context.Context, h *sessions.Handle, j writer.Job) {
	defer e.survive(ctx, h.State, j)
	defer e.storage.Remember(h.State)
	defer h.State.EndLease()
	e.reporter.Unreadable(ctx, h)
	c := &compactor{engine: e, h: h, job: j, waits: true}
	if e.cfg.CheckpointTool != "" {
		checked := h.Marks.Checking()
		defer func() { checked(c.waits) }()
	}
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
		next := c.planNext()
		c.waits = c.now.waitsForCheckpoint()
		if next.writes() {
			if may, again := c.mayWrite(ctx, next); again {
				continue
			} else if !may {
				return
			}
		}
		if missing := next.candidate.missing; c.chosen == nil && missing >= 0 {
			looked(missing)
		}
		if !c.carryOut(ctx, next) {
			return
		}
		c.carriedOn = true
	}
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
// session was deleted, a background job may not summarize now, the turn that waits can go on, or a turn
// at the hard limit waits for this background job. In the last two cases a new background job continues
// the work.
func (c *compactor) givesWay(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil || c.h.State.Deleted():
	case !c.job.Inline && c.engine.cfg.MaySummarize != nil && !c.engine.cfg.MaySummarize(c.h.State.Ref):
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
	if c.excess > 0 { // to measure the prompt costs a pass over the view
		return false
	}
	c.h.CatchUp()
	c.excess = c.h.Meter.Excess()
	return c.excess == 0
}

// planNext plans the next step, from what the last one has left if that is enough, else from a new snapshot. It is not
// enough if the session has got more than the record of that step meanwhile: the turn may have gone on and asked for a
// checkpoint, or gone back to what was over. Nor is it if the agent has another model.
func (c *compactor) planNext() step {
	if now := c.ahead; now != nil {
		c.ahead = nil
		c.h.CatchUp()
		if c.h.View.Len() == now.state.Stored && c.h.State.Prompts.Limits() == now.limits {
			if next := plan(*now); next.writes() {
				c.now, c.state = now, now.state
				return next
			}
		}
	}
	now := c.snapshot()
	c.now = &now
	return plan(now)
}

// carryOut does one step and notes what it taught. It reports whether another step follows. A merge
// that makes room is followed by the summary that needs the room:
//
//	step 1   merge two of five summaries   the window of step 2 is kept in chosen
//	step 2   summarize that window         chosen is nil again
func (c *compactor) carryOut(ctx context.Context, st step) (more bool) {
	c.job.Trigger, c.job.Kind, c.job.Note = st.candidate.trigger, st.candidate.kind, st.candidate.note
	c.job.Extractive, c.job.Economy = st.extractive, st.candidate.prompt.Economy
	if !st.writes() {
		c.end(ctx, st)
		return false
	}
	if c.engine.storage.MustWait(c.job) {
		c.h = c.h.Ahead()
	}
	c.chosen, c.worthless, c.ahead = nil, false, nil
	got, d := c.summarizeWindow(ctx, st)
	if got == writer.Written {
		c.excess = max(0, c.excess-st.window.Tokens)
		c.ahead = c.now.after(&st, d.Meta)
	}
	if got == writer.Written && c.wrote != nil {
		c.wrote(d)
	}
	switch st.after(got, c.job, c.h.State.Learned.Attempts.Hanging()) {
	case goOn:
		switch {
		case got != writer.Written:
		case st.makesRoom:
			c.chosen = &st.candidate
		case st.action == summarize:
			c.raiseFloor(st.candidate)
			c.payOn(st.candidate)
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

// after decides how the job goes on, given the result of the step. At the hard limit each failure
// leads to a rougher means, until none is left:
//
//	the model fails, or its summary is not shorter   write it again without a model
//	no summary of the window is shorter              make the summaries that are shown shorter
//	these cannot be made shorter                     end the job, and report why
func (st *step) after(got writer.Result, j writer.Job, hanging bool) continuation {
	if st.action == rewrite && got != writer.Written { // no summarizer was asked: another try would end alike
		return endAsPlanned
	}
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
	if done.trigger != record.TriggerTokens || done.Cut {
		return // before the snapshot, which costs as much as the view has events
	}
	s := c.snapshot()
	if floor := s.floorAfter(done); floor > 0 {
		c.h.State.Learned.Windows.RaiseFloor(done.reader, floor)
	}
}

// payOn notes what a compaction by price has left because the summarizer could not read all of it in one call. The prompt
// is read anew in any case, so the rest is summarized at once.
func (c *compactor) payOn(done candidate) {
	switch {
	case !done.byPrice || !done.Cut:
		c.paying = nil
	case c.paying == nil:
		c.paying = &done
	}
}

// summarizeWindow carries out a step that writes a summary: it has the summary written, and stores
// it. It returns the draft too, nil if there is none.
func (c *compactor) summarizeWindow(ctx context.Context, st step) (writer.Result, *writer.Draft) {
	j := c.job
	if st.action != summarize {
		j.Trigger, j.Kind, j.Focus, j.Note, j.Pack = record.TriggerMerge, "", "", "", ""
	}
	ctx, a := c.engine.reporter.Begin(ctx, c.h.State, j, st.window)
	result := a.Guard(ctx, func() writer.Result {
		d, result := c.writeDraft(ctx, j, st, a)
		if d == nil {
			return result
		}
		return c.engine.storage.StoreDraft(ctx, c.h, j, a, d)
	})
	if result != writer.Written {
		return result, nil
	}
	c.h.State.Learned.Windows.WorthTrying(st.window.Key())
	return result, a.Draft
}

// writeDraft has a summary written, and adds its draft to the session's waiting drafts. The draft
// is nil if there is none; then the attempt is concluded.
func (c *compactor) writeDraft(ctx context.Context, j writer.Job, st step, a *telemetry.Attempt) (*writer.Draft, writer.Result) {
	window, facts, began := &st.window, &c.h.State.Learned, time.Now()
	d, answer, err := writer.Write(ctx, c.engine.cfg.Summarizer, c.assignment(j, st), &facts.Attempts)
	a.Duration = time.Since(began)
	a.Spent(ctx, answer)
	if err != nil && (ctx.Err() != nil || errors.Is(err, writer.ErrHanging) && !j.Forced && !j.ByHand) {
		// The caller is gone, or an earlier call has not returned. The summarizer has not failed.
		return nil, a.Decline(ctx, err.Error())
	}
	if err != nil {
		return nil, a.Fail(ctx, err)
	}
	a.Summarized(d)
	c.engine.reporter.Values(ctx, c.h.State, d.ValuesLost)
	if size := d.Meta.CompactedTokens + max(0, d.Growth); st.action != rewrite && size >= window.Tokens {
		facts.Windows.NotShorter(window.Key(), window.Tokens)
		return nil, a.Decline(ctx, fmt.Sprintf("summary is not shorter: %d tokens for %d", size, window.Tokens))
	}
	if !c.h.State.Waiting.Add(d) {
		return nil, a.Discard(ctx, storage.Deleted)
	}
	c.h.Meter.Learn(window.Branch)
	return d, writer.Written
}

func (c *compactor) assignment(j writer.Job, st step) writer.Assignment {
	return writer.Assignment{
		Job: j, Window: st.window, Shown: c.state.Shown, Rewrites: st.action != summarize, Shorter: st.shorter, Room: c.roomFor(st),
		SummaryTokens: c.h.State.Prompts.Limits().SummaryTokens, Timeout: c.engine.cfg.Timeout,
		Ledger: c.ledgerFor(st), Given: st.given,
	}
}

// ledgerFor is what the record of a step needs for its exact values.
func (c *compactor) ledgerFor(st step) writer.Ledger {
	shows := c.engine.cfg.Shows
	limits := c.h.State.Prompts.Limits()
	room := limits.SummaryTokens + limits.LedgerTokens + limits.UserTokensWithTools - st.window.Tokens
	return writer.Ledger{
		Values: c.engine.values, MaxTokens: limits.LedgerTokens, SaidTokens: limits.UserTokens, SaidWithTools: limits.UserTokensWithTools,
		Hidden:  st.noValues || st.candidate.overLimit(limits) && st.candidate.prompt.Without(-room) >= limits.HardLimit,
		Current: currentOf(c.state, st.window.Branch), Shown: c.state.View,
		Size: func(records []*record.Metadata) int { return promptsize.OfAddition(shows, records) },
	}
}

// roomFor is how many tokens the summary of a step may have, given the branch's other summaries.
func (c *compactor) roomFor(st step) int {
	limits := c.h.State.Prompts.Limits()
	room := limits.AllSummaries - limits.LedgerTokens - limits.UserTokensWithTools
	for _, m := range currentOf(c.state, st.window.Branch) {
		if !slices.ContainsFunc(st.window.Absorb, func(a *record.Metadata) bool { return a.RecordID == m.RecordID }) {
			room -= promptsize.OfSummary(m)
		}
	}
	return max(room, limits.SummaryTokens)
}
