package persistence

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

// Import stores events that another store already has, records included, at the end of a session, all of them or, after
// an error, none. It is for copies of a session: what the events did to the state is in the state that is copied with
// them, so their state deltas are stored and not applied. Instead, state is merged by key into the state of the session,
// its user ("user:") and its app ("app:"); nil merges nothing, and keys with "temp:" are dropped.
//
// Each event keeps its ID and its time. Errors wrap [ErrEventExists] if the session has an ID already, and
// [compaction.ErrNotFound] if there is no such session. An event without an ID and a partial event are refused. sess must
// be from this service. Import changes neither sess nor the events: call Get for a handle that has them.
//
// If ctx ends before the transaction begins, nothing is stored. If it ends later, the returned outcome is the true one.
func Import(ctx context.Context, s *SQLiteSessionService, sess session.Session, events []*session.Event, state map[string]any) error {
	if isNil(sess) {
		return errors.New("import: session is nil")
	}
	to := handleOf(sess)
	if to == nil {
		return fmt.Errorf("import: unexpected session type %T for session ID %s: pass a session that this service returned", sess, sess.ID())
	}
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	rows := make([]eventrow.Row, len(events))
	for i, ev := range events {
		switch {
		case ev == nil:
			return fmt.Errorf("import: event %d of %d is nil", i+1, len(events))
		case ev.ID == "":
			return fmt.Errorf("import: event %d of %d has no ID: copy only events that are stored", i+1, len(events))
		case ev.Partial:
			return fmt.Errorf("import: event %q is partial: copy only events that are stored", ev.ID)
		}
		if rows[i], err = eventrow.Encode(ev); err != nil {
			return s.explain("import", fmt.Errorf("event %q: %w", ev.ID, err))
		}
	}
	values, err := stateValues(state)
	if err != nil {
		return s.explain("import", err)
	}
	return s.explain("import", s.submit(ctx, &write{run: func(w *writer) error {
		for i := range rows {
			if err := w.append(to, &rows[i], nil); err != nil {
				return err
			}
		}
		return w.setState(to.key, to.app, to.user, values)
	}}))
}
