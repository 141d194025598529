package storage

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/record"
)

// Over a service that stores records in turns only, a background job touches no storage: it works
// from the events of the turn's handle, and its drafts wait until this process appends to the
// session again.
//
//	turn 5 ends     a background job summarizes; its draft waits, and no view shows it yet
//	turn 6 begins   the user's event is appended, then the record, through the same handle
//	turn 6          the first prompt has the summary

// StoreDraft stores a draft, or leaves it waiting for the next append, and concludes the attempt.
// The caller has added the draft to the session's waiting drafts.
func (s *Storage) StoreDraft(ctx context.Context, h *sessions.Handle, j writer.Job, a *telemetry.Attempt, d *writer.Draft) writer.Result {
	if s.MustWait(j) {
		h.View.AppendRecord(d.Preview())
		return a.Wait(ctx)
	}
	began := time.Now()
	result, err := s.store(ctx, h, j.ByHand, d)
	a.Duration += time.Since(began)
	return s.conclude(ctx, h.State, a, d, result, err)
}

// StoreLeftovers stores the drafts that earlier attempts wrote and could not store, so that nobody
// pays for them twice. It reports whether the job may go on: drafts are stored in order, so a draft
// that still fails holds up those of this job.
func (s *Storage) StoreLeftovers(ctx context.Context, h *sessions.Handle, j writer.Job) bool {
	if s.MustWait(j) {
		return true
	}
	for _, d := range h.State.Waiting.All() {
		ctx, a := s.reporter.Resume(ctx, h.State, j, d)
		result := a.Guard(ctx, func() writer.Result { return s.StoreDraft(ctx, h, j, a, d) })
		if result != writer.Written && result != writer.Discarded {
			return false
		}
	}
	return true
}

// StoreNow stores the drafts that wait for a session at once, through a handle of its own. Another
// process that is in a turn on the session at that moment may lose state by it, or its turn.
func (s *Storage) StoreNow(ctx context.Context, st *sessions.State) {
	if len(st.Waiting.All()) == 0 {
		return
	}
	_ = st.Line.Exclusively(ctx, func() error {
		if h, err := s.sessions.Handle(ctx, st.Ref); err == nil && h.State == st {
			defer s.Remember(st)
			defer st.EndLease()
			s.StoreLeftovers(ctx, h, writer.Job{ByHand: true})
		}
		return nil
	})
}

// DraftsFor returns the drafts to store behind an event that was appended. A draft that failed in
// this invocation waits for the next one, so that a refusal does not slow down every event of a
// turn. The caller holds the session's append lock.
func (s *Storage) DraftsFor(h *sessions.Handle, ev *session.Event) []*writer.Draft {
	if s.mode != inTurns || h.Listed || ev.Partial {
		return nil
	}
	drafts := h.State.Waiting.All()
	if len(drafts) > 0 && drafts[0].Tries.Load() > 0 && ev.InvocationID != "" && drafts[0].TriedIn == ev.InvocationID {
		return nil
	}
	return drafts
}

// StoreWaiting stores drafts through the handle of a turn that has just appended an event, and then
// releases the session's append lock, which the caller holds. The turn waits until its patience ends. If the inner
// service has not returned by then, the lock stays held until it does: its append must not meet another one.
func (s *Storage) StoreWaiting(ctx context.Context, h *sessions.Handle, drafts []*writer.Draft, invocationID string) {
	waiting, cancel := context.WithTimeout(ctx, patience(ctx))
	defer cancel()
	_, _ = untilDone(waiting, func() (struct{}, error) {
		for _, report := range s.storeAll(ctx, h, drafts, invocationID) {
			report()
		}
		h.State.EndLease()
		s.Remember(h.State)
		return struct{}{}, nil
	})
}

// storeAll stores drafts in order, releases the append lock, and returns a function for each that
// reports on it: observers run without the lock. It stops at the first draft that fails, because
// later ones may absorb it.
func (s *Storage) storeAll(ctx context.Context, h *sessions.Handle, drafts []*writer.Draft, invocationID string) (reports []func()) {
	defer h.State.Append.Release()
	until := time.Now().Add(patience(ctx))
	for _, d := range drafts {
		ctx, a := s.reporter.Resume(ctx, h.State, writer.Job{InvocationID: invocationID, Inline: true}, d)
		began := time.Now()
		result, err := s.storeThroughHandle(ctx, h, d)
		a.Duration = time.Since(began)
		d.TriedIn = invocationID
		reports = append(reports, func() { s.conclude(ctx, h.State, a, d, result, err) })
		if err != nil || time.Now().After(until) {
			break
		}
	}
	return reports
}

// Discard reports the drafts of a session that will never be stored.
func (s *Storage) Discard(ctx context.Context, st *sessions.State, reason string) {
	for _, d := range st.Waiting.All() {
		ctx, a := s.reporter.Resume(ctx, st, writer.Job{}, d)
		s.conclude(ctx, st, a, d, Settlement{Reason: reason}, nil)
	}
	st.EndLease()
}

// Remember keeps the session's state alive while it has something to remember. If another session's
// state is given up for it, that session's drafts are discarded.
func (s *Storage) Remember(st *sessions.State) {
	if givenUp := s.sessions.Remember(st); givenUp != nil {
		s.Discard(context.Background(), givenUp, "too many sessions are remembered")
	}
}

// conclude concludes the attempt for a draft that was offered to the inner service, and removes it
// from the waiting drafts unless it will be tried again.
func (s *Storage) conclude(ctx context.Context, st *sessions.State, a *telemetry.Attempt, d *writer.Draft, result Settlement, err error) writer.Result {
	switch {
	case err != nil && ctx.Err() != nil: // the caller is gone: this is no failure of the storage
		return a.Decline(ctx, err.Error())
	case err != nil && d.Tries.Load() < maxTries:
		return a.Fail(ctx, err)
	}
	if !st.Waiting.Take(d) { // another attempt has reported on it
		a.Abandon()
		if result.Event == nil {
			return writer.Discarded
		}
		return writer.Written
	}
	switch {
	case err != nil:
		return a.Fail(ctx, fmt.Errorf("%w after %d tries to store it: %w", telemetry.ErrDropped, d.Tries.Load(), err))
	case result.Event == nil:
		return a.Discard(ctx, result.Reason)
	}
	// An inner service that changes what it stores makes a record of no use: the same summary would be written again.
	if m, unread := record.From(result.Event); m == nil {
		return a.Fail(ctx, fmt.Errorf("%w: it could not be read back as it was stored: %w", telemetry.ErrNotStored, cmp.Or(unread, record.ErrMalformed)))
	}
	return a.Store(ctx, result.Event.ID)
}
