package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/draft"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

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
			err = fmt.Errorf("inner session service %w: %v", telemetry.ErrPanicked, cause)
		}
	}()
	return f()
}

// offer has a draft stored within the time-out, and offers it a second time if that fails. Tries that
// failed because the caller's context ended do not count.
func offer(ctx context.Context, st *sessions.State, d *draft.Draft, try func(context.Context) (Settlement, error)) (result Settlement, err error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for range triesPerAttempt {
		if st.Deleted() {
			return Settlement{Reason: Deleted}, nil
		}
		result, err = guarded(func() (Settlement, error) { return try(limited) })
		switch {
		case err == nil:
			return result, nil
		case errors.Is(err, session.ErrNotFound):
			return Settlement{Reason: Deleted}, nil
		case ctx.Err() != nil:
			return Settlement{}, err
		}
		d.Tries.Add(1)
	}
	return Settlement{}, fmt.Errorf("%w: %w", telemetry.ErrNotStored, err)
}

// appendRecord stores a record with the inner service's AppendRecord, whatever turn is under way.
func (s *Storage) appendRecord(ctx context.Context, h *sessions.Handle, d *draft.Draft) (Settlement, error) {
	ev := d.Event(d.Meta, h.Inner.LastUpdateTime())
	err := s.appender.AppendRecord(ctx, h.Inner, ev)
	switch {
	case superseded(err):
		return Settlement{Reason: err.Error()}, nil
	case err != nil:
		return Settlement{}, err
	}
	h.State.Publish(ev)
	return Settlement{Event: ev}, nil
}

// storeThroughHandle stores a record through the handle of a turn, whose view says whether the record
// is still needed: the handle is as new as the turn. The caller holds the session's lock.
func (s *Storage) storeThroughHandle(ctx context.Context, h *sessions.Handle, d *draft.Draft) (Settlement, error) {
	return offer(ctx, h.State, d, func(ctx context.Context) (Settlement, error) {
		if d.Stored != nil {
			return Settlement{Event: d.Stored}, nil
		}
		h.CatchUp()
		if d.Tries.Load() > 0 {
			ev, err := s.recentRecord(ctx, h.State.Ref, d.Meta.RecordID)
			if err != nil {
				return Settlement{}, err
			}
			if ev != nil {
				h.State.Publish(ev)
				return Settlement{Event: ev}, nil
			}
		}
		ready, result := examine(h.View, h.State, d)
		if ready == nil {
			return result, nil
		}
		ev := d.Event(ready, h.Inner.LastUpdateTime())
		if err := s.sessions.Inner.AppendEvent(ctx, h.Inner, ev); err != nil {
			return Settlement{}, err
		}
		d.Stored = ev
		h.State.Publish(ev)
		return Settlement{Event: ev}, nil
	})
}

// recentEvents is how many of a session's newest events are read to find a record that an earlier try
// may have stored: it carries the session's update time, so few can be newer.
const recentEvents = 16

// recentRecord returns the event that stores the record of an ID if it is among the newest of the
// session, else nil: the answer to an earlier try may have been lost.
func (s *Storage) recentRecord(ctx context.Context, ref sessions.Ref, id string) (*session.Event, error) {
	req := ref.Request()
	req.NumRecentEvents = recentEvents
	resp, err := s.sessions.Inner.Get(ctx, req)
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
func (s *Storage) storeThroughNewHandle(ctx context.Context, st *sessions.State, d *draft.Draft) (Settlement, error) {
	resp, err := s.sessions.Load(ctx, st.Ref.Request())
	if err != nil {
		return Settlement{}, fmt.Errorf("read the session again: %w", err)
	}
	view, _ := s.sessions.ViewOf(st.Ref, resp.Session)
	ready, result := examine(view, st, d)
	if ready == nil {
		if result.Event != nil {
			st.Publish(result.Event)
		}
		return result, nil
	}
	if err := st.Append.Acquire(ctx); err != nil {
		return Settlement{}, err
	}
	defer st.Append.Release()
	switch {
	case st.Deleted():
		return Settlement{Reason: Deleted}, nil
	case d.Stored != nil: // by a turn, since the session was read
		return Settlement{Event: d.Stored}, nil
	}
	req := st.Ref.Request()
	req.NumRecentEvents = 1
	if resp, err = s.sessions.Inner.Get(ctx, req); err != nil {
		return Settlement{}, err
	}
	ev := d.Event(ready, resp.Session.LastUpdateTime())
	if err := s.sessions.Inner.AppendEvent(ctx, resp.Session, ev); err != nil {
		return Settlement{}, err
	}
	d.Stored = ev
	st.Publish(ev)
	return Settlement{Event: ev}, nil
}

// examine compares a draft with a session as it is now. It returns the record to store, without the
// references that name no event there, whose events are parked. If there is nothing to store, the
// record is nil and the settlement says why.
func examine(v *view.View, st *sessions.State, d *draft.Draft) (*record.Metadata, Settlement) {
	if ev := v.Record(d.Meta.RecordID); ev != nil {
		return nil, Settlement{Event: ev}
	}
	events, state := v.Raw(), v.State()
	for _, id := range d.Meta.Absorbed {
		if !slices.ContainsFunc(state.Current, func(m *record.Metadata) bool { return m.RecordID == id }) {
			return nil, Settlement{Reason: "a summary that it absorbs is no longer shown"}
		}
	}
	ready := *d.Meta
	ready.Covered = nil
	for i, at := range v.Find(d.Meta.Covered) {
		switch {
		case at < 0 || record.Normalize(events[at].Branch) != d.Meta.Branch:
			st.Learned.Events.MarkUnreferencable(d.Events[i])
		case state.CoveredAt(at):
			return nil, Settlement{Reason: "another record covers its events"}
		default:
			ready.Covered = append(ready.Covered, d.Meta.Covered[i])
		}
	}
	if len(ready.Covered) == 0 && len(d.Meta.Covered) > 0 {
		return nil, Settlement{Reason: "no stored event can be told from the others by its references"}
	}
	return &ready, Settlement{}
}
