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
	if !s.mayTry(&t, h.state) {
		return
	}
	if !s.storeUnstored(ctx, h.state, t) {
		return
	}
	for range maxWindows {
		if ctx.Err() != nil || h.state.isDeleted() {
			return
		}
		if !t.inline && h.state.jobs.hurried() {
			s.background(ctx, h, t) // at the end of the line
			return
		}
		f := s.look(h, t)
		t.trigger = f.trigger
		if f.Empty() {
			s.rest(ctx, h, t, f, string(f.Reason))
			return
		}
		if f.held && f.Tokens < s.policy.slack {
			// The last compaction could not help, and this one would not either.
			s.rest(ctx, h, t, f, "prompt is over the hard limit, and the window too small to change that")
			return
		}
		switch s.attempt(ctx, h, t, f.Selection) {
		case Stored:
			s.settleGate(h, f)
		case Declined:
			if h.state.isHanging() {
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

// rest ends a job that found nothing to do. A token trigger that is due and can do nothing is told,
// and not looked at again before the prompt has grown, or it would be at every event.
func (s *CompactionSessionService) rest(ctx context.Context, h *handle, t task, f found, reason string) {
	if f.Reason == selector.NotDue {
		return
	}
	if f.trigger == record.TriggerTokens {
		h.state.mu.Lock()
		h.state.memory.rest(f.reader, f.prompt)
		h.state.mu.Unlock()
	}
	if f.Reason != selector.TooSmall { // that was told when the summary came out too long
		s.observe(ctx, s.declined(h.state, t, f.Selection, reason))
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
// threshold, unless more was waiting than one window could take.
func (s *CompactionSessionService) settleGate(h *handle, f found) {
	if f.trigger != record.TriggerTokens || f.Cut {
		return
	}
	h.catchUp()
	size := h.meter.size(h, f.reader)
	if s.policy.threshold == 0 || size < s.policy.threshold {
		return
	}
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	h.state.memory.closeGate(f.reader, size)
}

// attempt makes room for one more summary and writes it.
func (s *CompactionSessionService) attempt(ctx context.Context, h *handle, t task, sel selector.Selection) Outcome {
	if outcome := s.makeRoom(ctx, h, t, &sel); outcome != Stored {
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
	began := time.Now()
	o := s.observation(h.state, t, sel)
	o.Outcome = Started
	s.observe(ctx, o)

	d, err := s.summarize(ctx, h.state, t, sel)
	o.Duration = time.Since(began)
	if d != nil {
		o.describe(d)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, errHanging) && !t.forced && !t.byHand) {
		// Whoever waited for it has gone, or a call is out already: neither says that the summarizer fails.
		o.Outcome, o.Reason = Declined, err.Error()
		s.conclude(ctx, h.state, o)
		return Declined, nil
	}
	if err != nil {
		return s.fail(ctx, h.state, o, err), nil
	}
	if d.meta.CompactedTokens >= sel.Tokens {
		h.state.mu.Lock()
		h.state.memory.notShorter(&sel)
		h.state.mu.Unlock()
		o.Outcome, o.Reason = Declined, fmt.Sprintf("summary is not shorter: %d tokens for %d", d.meta.CompactedTokens, sel.Tokens)
		s.conclude(ctx, h.state, o)
		return Declined, nil
	}
	s.learn(h)
	outcome := s.keep(ctx, h.state, o, d)
	if outcome != Stored {
		return outcome, nil
	}
	h.state.mu.Lock()
	delete(h.state.memory.minTokens, sel.Key())
	h.state.mu.Unlock()
	return Stored, d
}

// keep stores a draft and tells what became of it.
func (s *CompactionSessionService) keep(ctx context.Context, st *sessionState, o Observation, d *draft) Outcome {
	began := time.Now()
	reason, err := s.store(ctx, st, d)
	o.Duration += time.Since(began)
	switch {
	case err != nil:
		st.mu.Lock()
		st.memory.unstored = d
		st.mu.Unlock()
		return s.fail(ctx, st, o, err)
	case reason != "":
		o.Outcome, o.Reason = Discarded, reason
	default:
		o.Outcome = Stored
		st.mu.Lock()
		st.memory.succeeded()
		st.mu.Unlock()
	}
	s.conclude(ctx, st, o)
	return o.Outcome
}

// storeUnstored stores what an earlier attempt summarized and could not store, so that it is not
// paid for again. It reports whether nothing of the kind is left.
func (s *CompactionSessionService) storeUnstored(ctx context.Context, st *sessionState, t task) bool {
	st.mu.Lock()
	d := st.memory.unstored
	st.memory.unstored = nil
	st.mu.Unlock()
	if d == nil {
		return true
	}
	t.trigger = d.meta.Trigger
	o := s.observation(st, t, selector.Selection{Branch: d.meta.Branch, Events: d.events, Tokens: d.tokens})
	o.describe(d)
	return s.keep(ctx, st, o, d) != Failed
}

// fail notes a failed attempt and reports it.
func (s *CompactionSessionService) fail(ctx context.Context, st *sessionState, o Observation, cause error) Outcome {
	o.Outcome, o.Err = Failed, failure(cause)
	st.mu.Lock()
	st.memory.failed(time.Now())
	st.mu.Unlock()
	if o.Inline {
		st.noteInline(o.InvocationID)
	}
	s.conclude(ctx, st, o)
	return Failed
}

func (s *CompactionSessionService) conclude(ctx context.Context, st *sessionState, o Observation) {
	st.mu.Lock()
	st.memory.last = o
	st.mu.Unlock()
	s.observe(ctx, o)
}

// learn notes, before the view changes, by how much prompts exceed the estimate of the view.
func (s *CompactionSessionService) learn(h *handle) {
	view, live := h.view.Events().Slice(), h.view.Live()
	for _, branch := range branches(view) {
		if overhead, ok := learnOverhead(view, live, branch); ok {
			h.state.mu.Lock()
			h.state.memory.learnOverhead(branch, overhead)
			h.state.mu.Unlock()
		}
	}
}

// remember keeps the session's state alive while it has something to remember.
func (s *CompactionSessionService) remember(st *sessionState) {
	st.mu.Lock()
	worth := !st.deleted && st.memory.worthKeeping()
	st.mu.Unlock()
	if worth {
		s.states.mindful.keep(st)
	} else {
		s.states.mindful.forget(st.ref)
	}
}

func (s *CompactionSessionService) observation(st *sessionState, t task, sel selector.Selection) Observation {
	return Observation{
		Session: st.ref, Trigger: t.trigger, Branch: sel.Branch, InvocationID: t.invocationID, Inline: t.inline,
		Events: len(sel.Events) + len(sel.Absorb), TokensBefore: sel.Tokens,
	}
}

func (s *CompactionSessionService) declined(st *sessionState, t task, sel selector.Selection, reason string) Observation {
	o := s.observation(st, t, sel)
	o.Outcome, o.Reason = Declined, reason
	return o
}
