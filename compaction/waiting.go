package compaction

import (
	"context"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/queue"
)

// Over a service that stores records in turns only, a background job touches no storage: it works
// from the events of the turn's handle, and its drafts wait here until this process appends to the
// session again. By then nobody else is in a turn.

// discardWaiting reports the drafts of a session that will never be stored.
func (s *CompactionSessionService) discardWaiting(ctx context.Context, st *sessionState, reason string) {
	for _, d := range st.waiting.All() {
		ctx, a := s.resume(ctx, st, task{}, d)
		s.concludeDraft(ctx, st, a, d, settlement{reason: reason}, nil)
	}
}

// storeNow stores the drafts that wait for a session at once, through a handle of its own. Another
// process that is in a turn on the session at that moment may lose state by it, or its turn.
func (s *CompactionSessionService) storeNow(ctx context.Context, st *sessionState) {
	if len(st.waiting.All()) == 0 {
		return
	}
	_ = queue.Exclusively(ctx, st.line, func() error {
		if h := s.tryHandleOf(ctx, st.ref); h != nil && h.state == st {
			defer s.remember(st)
			s.storeLeftovers(ctx, h, task{byHand: true})
		}
		return nil
	})
}

// mustWait reports whether a task's drafts wait for the next append instead of being stored by it.
func (s *CompactionSessionService) mustWait(t task) bool {
	return s.storing == storesInTurns && !t.inline && !t.byHand
}

// draftsFor returns the drafts that the append of an event should store. A draft that failed in this
// invocation waits for the next: a refusal must not slow down every event of a turn. The caller holds
// the session's lock.
func (s *CompactionSessionService) draftsFor(h *handle, ev *session.Event) []*draft {
	if s.storing != storesInTurns || h.listed || ev.Partial {
		return nil
	}
	drafts := h.state.waiting.All()
	if len(drafts) > 0 && drafts[0].tries.Load() > 0 && ev.InvocationID != "" && drafts[0].triedIn == ev.InvocationID {
		return nil
	}
	return drafts
}

// storeWaiting stores drafts through the handle of a turn that has just appended an event, and then
// releases the session's lock, which the caller holds. The turn waits for it until its context or the
// time-out ends. A service that has not returned by then keeps the lock, because what it still does
// must not meet another append.
func (s *CompactionSessionService) storeWaiting(ctx context.Context, h *handle, drafts []*draft, invocationID string) {
	waiting, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, _ = untilDone(waiting, func() (struct{}, error) {
		for _, report := range s.storeDrafts(ctx, h, drafts, invocationID) {
			report()
		}
		s.remember(h.state)
		return struct{}{}, nil
	})
}

// storeDrafts stores drafts in order, releases the session's lock, and returns what reports on each. It
// stops at the first draft that fails, because later ones may absorb it.
func (s *CompactionSessionService) storeDrafts(ctx context.Context, h *handle, drafts []*draft, invocationID string) (reports []func()) {
	defer h.state.append.Release()
	until := time.Now().Add(storeTimeout)
	for _, d := range drafts {
		ctx, a := s.resume(ctx, h.state, task{invocationID: invocationID, inline: true}, d)
		began := time.Now()
		result, err := s.storeThroughHandle(ctx, h, d)
		a.Duration = time.Since(began)
		d.triedIn = invocationID
		reports = append(reports, func() { s.concludeDraft(ctx, h.state, a, d, result, err) })
		if err != nil || time.Now().After(until) {
			break
		}
	}
	return reports
}

// storeLeftovers stores what earlier attempts summarized and did not store, so that it is not paid for
// again. It reports whether none is left that this task's drafts would have to wait behind.
func (s *CompactionSessionService) storeLeftovers(ctx context.Context, h *handle, t task) bool {
	if s.mustWait(t) {
		return true
	}
	for _, d := range h.state.waiting.All() {
		ctx, a := s.resume(ctx, h.state, t, d)
		outcome := s.guard(ctx, h.state, a, func() Outcome { return s.storeDraft(ctx, h, t, a, d) })
		if outcome != Stored && outcome != Discarded {
			return false
		}
	}
	return true
}

// storeDraft stores a draft that is in line, or leaves it there for the next append, and reports what
// became of it.
func (s *CompactionSessionService) storeDraft(ctx context.Context, h *handle, t task, a *attempt, d *draft) Outcome {
	if s.mustWait(t) {
		h.view.AppendRecord(d.event(d.meta, d.meta.CreatedAt))
		h.state.learned.Succeeded()
		return s.conclude(ctx, h.state, a, Waiting, "")
	}
	began := time.Now()
	result, err := s.store(ctx, h, t, d)
	a.Duration += time.Since(began)
	return s.concludeDraft(ctx, h.state, a, d, result, err)
}

// concludeDraft reports what became of a draft that was offered to the inner service, and takes it out of the
// line unless it is to be offered again.
func (s *CompactionSessionService) concludeDraft(ctx context.Context, st *sessionState, a *attempt, d *draft, result settlement, err error) Outcome {
	switch {
	case err != nil && ctx.Err() != nil: // the caller has gone: that says nothing about the storage
		return s.conclude(ctx, st, a, Declined, err.Error())
	case err != nil && d.tries.Load() < maxTries:
		return s.failed(ctx, st, a, err)
	}
	if !st.waiting.Take(d) {
		return a.settledElsewhere(result)
	}
	switch {
	case err != nil:
		return s.failed(ctx, st, a, dropped(d, err))
	case result.event == nil:
		return s.conclude(ctx, st, a, Discarded, result.reason)
	}
	a.EventID = result.event.ID
	st.learned.Succeeded()
	return s.conclude(ctx, st, a, Stored, "")
}
