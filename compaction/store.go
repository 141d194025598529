package compaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

const (
	// storeTimeout bounds one attempt to store a record. A turn may be waiting for it.
	storeTimeout = 5 * time.Second
	// triesPerAttempt is how often one attempt offers a record to the inner service: an answer may be
	// lost, or another process may be in the way for a moment.
	triesPerAttempt = 2
	// maxTries is how often a record is offered before it is dropped. A service that refuses a record
	// for good must not end compaction for its session.
	maxTries = 2 * triesPerAttempt
)

// settlement is what became of a draft: the event that stores it, or the reason why it has become
// pointless. The zero value stands for neither.
type settlement struct {
	event  *session.Event
	reason string
}

// store stores a draft now: with AppendRecord, through a handle fetched for it, or through the handle
// of the turn that waits for it.
func (s *CompactionSessionService) store(ctx context.Context, h *handle, t task, d *draft) (settlement, error) {
	switch {
	case s.storing == storesAtOnce:
		return offer(ctx, h.state, d, func(ctx context.Context) (settlement, error) {
			return untilDone(ctx, func() (settlement, error) { return s.storeAtOnce(ctx, h, d) })
		})
	case s.storing == storesFreely || t.byHand:
		return offer(ctx, h.state, d, func(ctx context.Context) (settlement, error) {
			return untilDone(ctx, func() (settlement, error) { return s.storeThroughNewHandle(ctx, h.state, d) })
		})
	}
	if err := h.state.append.Acquire(ctx); err != nil {
		return settlement{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*storeTimeout)
	defer cancel()
	return untilDone(ctx, func() (settlement, error) {
		// A service that does not return in time keeps the lock: what it still does must not meet
		// another append.
		defer h.state.append.Release()
		return s.storeThroughHandle(ctx, h, d)
	})
}

// untilDone runs f in a goroutine of its own and returns what it returns, or the context's error if
// that ends first. Then f goes on alone. A panic in f becomes an error.
func untilDone[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := guarded(f)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// guarded returns what f returns. A panic in f, and so in the inner service, becomes an error.
func guarded[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("inner session service %w: %v", errPanicked, cause)
		}
	}()
	return f()
}

// offer has a draft stored within the time-out, and offers it a second time if that fails. Tries that
// failed because the caller's context ended do not count.
func offer(ctx context.Context, st *sessionState, d *draft, try func(context.Context) (settlement, error)) (result settlement, err error) {
	limited, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	for range triesPerAttempt {
		if st.isDeleted() {
			return settlement{reason: errDeleted.Error()}, nil
		}
		result, err = guarded(func() (settlement, error) { return try(limited) })
		switch {
		case err == nil:
			return result, nil
		case errors.Is(err, session.ErrNotFound):
			return settlement{reason: errDeleted.Error()}, nil
		case ctx.Err() != nil:
			return settlement{}, err
		}
		d.tries.Add(1)
	}
	return settlement{}, fmt.Errorf("%w: %w", errNotStored, err)
}

// storeAtOnce stores a record with the inner service's AppendRecord, whatever turn is under way.
func (s *CompactionSessionService) storeAtOnce(ctx context.Context, h *handle, d *draft) (settlement, error) {
	ev := d.event(d.meta, h.inner.LastUpdateTime())
	err := asRecordAppender(s.inner).AppendRecord(ctx, h.inner, ev)
	switch {
	case isSuperseded(err):
		return settlement{reason: err.Error()}, nil
	case err != nil:
		return settlement{}, err
	}
	h.state.news.publish(ev)
	return settlement{event: ev}, nil
}

// storeThroughHandle stores a record through the handle of a turn, whose view says whether the record
// is still needed: the handle is as new as the turn. The caller holds the session's lock.
func (s *CompactionSessionService) storeThroughHandle(ctx context.Context, h *handle, d *draft) (settlement, error) {
	return offer(ctx, h.state, d, func(ctx context.Context) (settlement, error) {
		if d.stored != nil {
			return settlement{event: d.stored}, nil
		}
		h.catchUp()
		if d.tries.Load() > 0 {
			ev, err := s.recentRecord(ctx, h.state.ref, d.meta.RecordID)
			if err != nil {
				return settlement{}, err
			}
			if ev != nil {
				h.state.news.publish(ev)
				return settlement{event: ev}, nil
			}
		}
		ready, result := examine(h.view, h.state, d)
		if ready == nil {
			return result, nil
		}
		ev := d.event(ready, h.inner.LastUpdateTime())
		if err := s.inner.AppendEvent(ctx, h.inner, ev); err != nil {
			return settlement{}, err
		}
		d.stored = ev
		h.state.news.publish(ev)
		return settlement{event: ev}, nil
	})
}

// recentEvents is how many of a session's newest events are read to find a record that an earlier try
// may have stored: it carries the session's update time, so few can be newer.
const recentEvents = 16

// recentRecord returns the event that stores the record of an ID if it is among the newest of the
// session, else nil: the answer to an earlier try may have been lost.
func (s *CompactionSessionService) recentRecord(ctx context.Context, ref SessionRef, id string) (*session.Event, error) {
	req := ref.request()
	req.NumRecentEvents = recentEvents
	resp, err := s.inner.Get(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("look for the record of an earlier try: %w", err)
	}
	for ev := range resp.Session.Events().All() {
		if m, err := record.From(ev); err == nil && m != nil && m.RecordID == id {
			return ev, nil
		}
	}
	return nil, nil
}

// storeThroughNewHandle stores a record through a handle that is fetched for it and stamps it with the
// session's last update time, so that it makes no other handle of this process stale.
func (s *CompactionSessionService) storeThroughNewHandle(ctx context.Context, st *sessionState, d *draft) (settlement, error) {
	resp, err := s.load(ctx, st.ref.request())
	if err != nil {
		return settlement{}, fmt.Errorf("read the session again: %w", err)
	}
	view, _ := s.viewOf(st.ref, resp.Session)
	ready, result := examine(view, st, d)
	if ready == nil {
		if result.event != nil {
			st.news.publish(result.event)
		}
		return result, nil
	}
	if err := st.append.Acquire(ctx); err != nil {
		return settlement{}, err
	}
	defer st.append.Release()
	switch {
	case st.isDeleted():
		return settlement{reason: errDeleted.Error()}, nil
	case d.stored != nil: // by a turn, since the session was read
		return settlement{event: d.stored}, nil
	}
	req := st.ref.request()
	req.NumRecentEvents = 1
	if resp, err = s.inner.Get(ctx, req); err != nil {
		return settlement{}, err
	}
	ev := d.event(ready, resp.Session.LastUpdateTime())
	if err := s.inner.AppendEvent(ctx, resp.Session, ev); err != nil {
		return settlement{}, err
	}
	d.stored = ev
	st.news.publish(ev)
	return settlement{event: ev}, nil
}

// examine compares a draft with a session as it is now. It returns the record to store, without the
// references that name no event there, whose events are parked. If there is nothing to store, the
// record is nil and the settlement says why.
func examine(v *view.View, st *sessionState, d *draft) (*record.Metadata, settlement) {
	if ev := v.Record(d.meta.RecordID); ev != nil {
		return nil, settlement{event: ev}
	}
	events, state := v.Raw(), v.State()
	for _, id := range d.meta.Absorbed {
		if !slices.ContainsFunc(state.Current, func(m *record.Metadata) bool { return m.RecordID == id }) {
			return nil, settlement{reason: "a summary that it absorbs is no longer shown"}
		}
	}
	ready := *d.meta
	ready.Covered = nil
	for i, at := range v.Find(d.meta.Covered) {
		switch {
		case at < 0 || record.Normalize(events[at].Branch) != d.meta.Branch:
			st.learned.Events.MarkUnreferencable(d.events[i])
		case state.CoveredAt(at):
			return nil, settlement{reason: "another record covers its events"}
		default:
			ready.Covered = append(ready.Covered, d.meta.Covered[i])
		}
	}
	if len(ready.Covered) == 0 && len(d.meta.Covered) > 0 {
		return nil, settlement{reason: "no stored event can be told from the others by its references"}
	}
	return &ready, settlement{}
}
