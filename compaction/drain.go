package compaction

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
)

// maxWindows bounds how many windows one job writes: far more than any backlog needs, and the end of
// a job that, against all design, makes no progress.
const maxWindows = 1000

// drain summarizes what is due, one window after the other, until nothing is, or an attempt fails.
func (s *CompactionSessionService) drain(ctx context.Context, h *handle, t task) {
	defer s.survive(ctx, h.state, t)
	defer s.remember(h.state)
	s.reportUnreadable(ctx, h)
	if !s.mayTry(&t, h.state) {
		return
	}
	if !s.storeLeftovers(ctx, h, t) {
		return
	}
	if s.mustWait(t) && len(h.state.waitingDrafts()) > 0 {
		h = h.ahead()
	}
	for n := range maxWindows {
		if ctx.Err() != nil || h.state.isDeleted() {
			return
		}
		if n > 0 && t.inline && s.turnCanGoOn(h, t) {
			s.background(ctx, h, task{invocationID: t.invocationID})
			return
		}
		if !t.inline && h.state.jobs.hurried() {
			s.background(ctx, h, t) // at the end of the line
			return
		}
		f := s.look(h, t)
		t.trigger = f.trigger
		reason := string(f.Reason)
		hopeless := s.hopeless(h, f)
		switch {
		case f.held && hopeless:
			reason = "prompt exceeds the context window, and all that may be summarized is too little to change that"
		case f.held && f.Tokens < s.limits(h.state).slack && f.prompt.likely < s.limits(h.state).limit:
			// The last compaction could not help, nor would this one, and it is not certain that it must.
			reason = "prompt may be over the hard limit, and the window is too small to change that"
		}
		if reason != "" {
			if !hopeless {
				switch outcome := s.squeeze(ctx, h, t, f); {
				case outcome == Stored:
					continue
				case !t.extractive && (outcome == Failed || outcome == Declined && f.prompt.likely >= s.limits(h.state).limit):
					t.extractive = true // the model fails, or does not make it shorter
					continue
				}
			}
			s.rest(ctx, h, t, f, reason)
			return
		}
		t.extractive = t.extractive || f.unbounded
		if t.forced && f.Tokens < leastWindow("") {
			takeNewest(&f.Selection, s.summariesOf(h, f.Branch), s.placeOf(h))
		}
		if s.mustWait(t) {
			h = h.ahead()
		}
		switch s.attempt(ctx, h, t, f.Selection) {
		case Stored, Waiting:
			s.settleGate(h, t, f)
		case Declined:
			switch {
			case t.extractive && t.forced: // nothing makes this window shorter
				if s.squeeze(ctx, h, t, f) != Stored {
					return
				}
			case t.forced:
				t.extractive = true
			case h.state.isHanging():
				return
			}
			// The window must grow before it is tried again; something else may be due.
		case Failed:
			if !t.forced || t.extractive {
				return
			}
			t.extractive = true
		default:
			return
		}
	}
}

// turnCanGoOn reports whether the turn that waits for a task has waited long enough: until the time-out,
// or, where only the hard limit made it wait, until the prompt is under that. A prompt that is over the
// limit at the time-out is still made smaller, without a model.
func (s *CompactionSessionService) turnCanGoOn(h *handle, t task) bool {
	late := time.Now().After(t.deadline)
	if !t.forced {
		return late
	}
	if s.policy.Synchronous && !late {
		return false
	}
	h.catchUp()
	for _, reader := range h.meter.branches(h.view) {
		if h.meter.prompt(h, reader).most >= s.limits(h.state).limit {
			return false
		}
	}
	return true
}

// rest ends a job that found nothing to do. A token trigger that is due and can do nothing is told,
// and not looked at again before the prompt has grown, or it would be at every event.
func (s *CompactionSessionService) rest(ctx context.Context, h *handle, t task, f found, reason string) {
	if f.Reason == selector.NotDue {
		return
	}
	if f.trigger == record.TriggerTokens {
		h.state.mu.Lock()
		h.state.memory.rest(f.reader, f.prompt.likely)
		h.state.mu.Unlock()
	}
	if f.Reason != selector.TooSmall { // that was told when the summary came out too long
		s.decline(ctx, h.state, t, f.Selection, reason)
	}
}

// mayTry reports whether an attempt may be made now: not while failures are backed off from, and
// inline once per invocation. At the hard limit it may always, without a model if need be.
func (s *CompactionSessionService) mayTry(t *task, st *sessionState) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	held := time.Now().Before(st.memory.retryAt) ||
		t.inline && t.invocationID != "" && st.memory.triedInline == t.invocationID
	if held && t.forced {
		t.extractive = true
		return true
	}
	return !held
}

// settleGate holds the token trigger back after a compaction that left the prompt over the
// threshold, unless more was waiting than one window could take, in this branch or in another.
func (s *CompactionSessionService) settleGate(h *handle, t task, f found) {
	if f.trigger != record.TriggerTokens || f.Cut {
		return
	}
	h.catchUp()
	size := h.meter.prompt(h, f.reader).likely
	if s.limits(h.state).threshold == 0 || size < s.limits(h.state).threshold {
		return
	}
	state := h.view.State()
	next := s.largest(h.history(state), s.params(h.state), branches(state.View), f.reader, s.excess(h, t, size))
	if !next.Empty() && next.Branch != f.Branch {
		return
	}
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	h.state.memory.closeGate(f.reader, size)
}

// attempt makes room for one more summary and writes it.
func (s *CompactionSessionService) attempt(ctx context.Context, h *handle, t task, sel selector.Selection) Outcome {
	if outcome := s.makeRoom(ctx, h, t, &sel); !outcome.written() {
		return outcome
	}
	return s.write(ctx, h, t, sel)
}

// write summarizes a window and stores its record.
func (s *CompactionSessionService) write(ctx context.Context, h *handle, t task, sel selector.Selection) Outcome {
	outcome, _ := s.writeRecord(ctx, h, t, sel)
	return outcome
}

// writeRecord is write for those who want to know what was written, nil if nothing was.
func (s *CompactionSessionService) writeRecord(ctx context.Context, h *handle, t task, sel selector.Selection) (Outcome, *draft) {
	ctx, a := s.begin(ctx, h.state, t, sel)
	outcome := s.guard(ctx, h.state, a, func() Outcome { return s.carryOut(ctx, h, t, sel, a) })
	if !outcome.written() {
		return outcome, nil
	}
	h.state.mu.Lock()
	delete(h.state.memory.minTokens, sel.Key())
	h.state.mu.Unlock()
	return outcome, a.draft
}

func (s *CompactionSessionService) carryOut(ctx context.Context, h *handle, t task, sel selector.Selection, a *attempt) Outcome {
	began := time.Now()
	d, result, err := s.summarize(ctx, h, t, sel)
	a.Duration = time.Since(began)
	a.Spent(result)
	if d != nil {
		a.summarized(d)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, errHanging) && !t.forced && !t.byHand) {
		// Whoever waited for it has gone, or a call is out already: neither says that the summarizer fails.
		return s.conclude(ctx, h.state, a, Declined, err.Error())
	}
	if err != nil {
		return s.failed(ctx, h.state, a, err)
	}
	if d.meta.CompactedTokens >= sel.Tokens {
		h.state.mu.Lock()
		h.state.memory.notShorter(&sel)
		h.state.mu.Unlock()
		return s.conclude(ctx, h.state, a, Declined, fmt.Sprintf("summary is not shorter: %d tokens for %d", d.meta.CompactedTokens, sel.Tokens))
	}
	if !h.state.enqueue(d) {
		return s.conclude(ctx, h.state, a, Discarded, errDeleted.Error())
	}
	s.learn(h, sel.Branch)
	return s.keep(ctx, h, t, a, d)
}

// learn notes, before the view changes for those who see a branch, how their prompts compare with the
// estimate of it. What others report would be learned again with every compaction.
func (s *CompactionSessionService) learn(h *handle, changing string) {
	view, live := h.view.Events().Slice(), h.view.Live()
	for _, branch := range branches(view) {
		if !selector.Visible(branch, changing) {
			continue
		}
		learned := learn(promptSize{agents: h.state.fits(branch), requests: h.state.requestsIn(branch), limit: s.limits(h.state).limit}, view, live, branch, h.state.isVoid)
		h.state.mu.Lock()
		h.state.memory.learn(branch, learned)
		h.state.mu.Unlock()
	}
}

// remember keeps the session's state alive while it has something to remember.
func (s *CompactionSessionService) remember(st *sessionState) {
	if givenUp := s.states.remember(st); givenUp != nil {
		s.discardWaiting(context.Background(), givenUp, "too many sessions are remembered")
	}
}
