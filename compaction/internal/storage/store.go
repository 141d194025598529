package storage

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// offer tries to store a draft within the caller's patience, twice if the first try fails in time. A try that failed
// because the caller's context ended does not count.
func offer(ctx context.Context, st *sessions.State, d *writer.Draft, try func(context.Context) (Settlement, error)) (result Settlement, err error) {
	limited, cancel := context.WithTimeout(ctx, patience(ctx))
	defer cancel()
	for range triesPerAttempt {
		if st.Deleted() {
			return Settlement{Reason: Deleted}, nil
		}
		result, err = guarded(func() (Settlement, error) { return try(limited) })
		switch {
		case err == nil:
			return result, nil
		case adk.IsNotFound(err):
			return Settlement{Reason: Deleted}, nil
		case ctx.Err() != nil:
			return Settlement{}, err
		}
		if d.Tries.Add(1); limited.Err() != nil {
			break
		}
	}
	return Settlement{}, fmt.Errorf("%w: %w", telemetry.ErrNotStored, err)
}

// appendRecord stores a record with the inner service's AppendRecord, whatever turn is under way.
func (s *Storage) appendRecord(ctx context.Context, h *sessions.Handle, d *writer.Draft) (Settlement, error) {
	ev := d.Event(d.Meta, h.Inner.LastUpdateTime())
	err := s.appender.AppendRecord(ctx, h.Inner, ev)
	var refused interface{ Superseded() bool }
	switch {
	case errors.As(err, &refused) && refused.Superseded(): // others have done its work
		return Settlement{Reason: err.Error()}, nil
	case err != nil:
		return Settlement{}, err
	}
	h.State.Publish(ev)
	return Settlement{Event: ev}, nil
}

// storeThroughHandle stores a record through the handle of a turn. The handle is as new as the
// turn, so its view decides whether the record is still needed. The caller holds the session's
// append lock.
func (s *Storage) storeThroughHandle(ctx context.Context, h *sessions.Handle, d *writer.Draft) (Settlement, error) {
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
		return s.append(ctx, h.State, h.Inner, d, ready)
	})
}

// append appends the event of a record to a session. The caller holds the session's append lock.
func (s *Storage) append(ctx context.Context, st *sessions.State, sess session.Session, d *writer.Draft, ready *record.Metadata) (Settlement, error) {
	ev := d.Event(ready, sess.LastUpdateTime())
	if err := s.sessions.Inner.AppendEvent(ctx, sess, ev); err != nil {
		return Settlement{}, err
	}
	d.Stored = ev
	st.Publish(ev)
	return Settlement{Event: ev}, nil
}

// recentEvents is how many of a session's newest events recentRecord reads. The record has the
// session's update time as its timestamp, so few events can be newer.
const recentEvents = 16

// recentRecord looks for a record that an earlier try may have stored although its answer was lost.
// It returns the event that stores it, nil if none of the session's newest events does.
func (s *Storage) recentRecord(ctx context.Context, ref adk.SessionRef, id string) (*session.Event, error) {
	req := ref.Request()
	req.NumRecentEvents = recentEvents
	resp, err := s.sessions.Read(ctx, req)
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

// storeThroughNewHandle stores a record through a handle that it loads for this purpose. The record
// gets the session's last update time, so it makes no other handle of this process stale.
func (s *Storage) storeThroughNewHandle(ctx context.Context, st *sessions.State, d *writer.Draft) (Settlement, error) {
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
	if resp, err = s.sessions.Read(ctx, req); err != nil {
		return Settlement{}, err
	}
	return s.append(ctx, st, resp.Session, d, ready)
}

// untilDone runs f in a goroutine of its own and returns f's results, or the context's error if the
// context ends first. In that case f goes on alone. A panic in f becomes an error.
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

// guarded returns f's results. A panic in f, and so in the inner service, becomes an error.
func guarded[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("inner session service %w: %v", writer.ErrPanicked, cause)
		}
	}()
	return f()
}
