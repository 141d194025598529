package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/ids"
)

// These statements run for every event, so their parameters are not numbered: the driver looks up
// every numbered parameter by name.
const (
	// insertEvent stores an event only if last_seq is the expected one. It also compares the
	// session's name, because a handle may come from a service on another file.
	insertEvent = `INSERT INTO events (session, seq, id, time, invocation_id, author, branch, content, actions,
			usage_metadata, custom_metadata, long_running_tool_ids, extra, record_id, unit, digest)
		SELECT key, last_seq + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CASE ? WHEN 0 THEN last_seq + 1 ELSE ? END, ?
		FROM sessions WHERE key = ? AND app = ? AND user = ? AND id = ? AND last_seq = ?`
	// updateSession counts the event. The second and third parameters are its speaker.
	updateSession = `UPDATE sessions SET last_seq = last_seq + 1, updated_at = ?,
			last_user = iif(? = 1, last_seq + 1, last_user), last_agent = iif(? = 2, last_seq + 1, last_agent)
		WHERE key = ?`
	// insertInvocation stores the first event of an invocation, and nothing for later ones.
	insertInvocation = `INSERT INTO invocations (session, id, began) SELECT key, ?, last_seq FROM sessions WHERE key = ?
		ON CONFLICT (session, id) DO NOTHING`
	selectEventID = `SELECT 1 FROM events WHERE session = ? AND id = ?`
)

// AppendEvent stores an event at the end of its session and merges its state delta by key into the
// state, in one transaction. Afterwards the handle has both. An error means that neither the file
// nor the handle changed.
//
// An event without an ID gets one, in the handle and in the file. An ID that the session has
// already is refused with [ErrEventExists]. AppendEvent does not change event, and does not store
// partial events. Errors wrap [compaction.ErrNotFound] if the session was deleted, even if another one
// now has its ID.
//
// If ctx ends before the transaction begins, nothing is stored. If it ends later, AppendEvent waits
// and returns the true outcome.
func (s *SQLiteSessionService) AppendEvent(ctx context.Context, curSession session.Session, event *session.Event) error {
	switch {
	case isNil(curSession):
		return errors.New("session is nil")
	case event == nil:
		return errors.New("event is nil")
	case event.Partial:
		return nil
	}
	handle := handleOf(curSession)
	if handle == nil {
		return fmt.Errorf("unexpected session type %T for session ID %s: pass a session that this service returned", curSession, curSession.ID())
	}
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	kept := adk.WithoutTemp(event)
	if kept.ID == "" {
		named := *kept
		named.ID = ids.New(ctx)
		kept = &named
	}
	r, err := eventrow.Encode(kept)
	if err != nil {
		return s.explain("append event", err)
	}
	values, err := stateValues(kept.Actions.StateDelta)
	if err != nil {
		return s.explain("append event", err)
	}
	return s.explain("append event", s.submit(ctx, &write{
		run: func(w *writer) error { return w.append(handle, &r, values) },
		committed: func() {
			handle.appended(kept, event.Actions.StateDelta)
			if r.IsConversation {
				handle.noteInvocation(kept.InvocationID)
			}
		},
	}))
}

// append runs one AppendEvent inside the transaction: it inserts the row, updates its session, and
// stores the links of the event to others.
func (w *writer) append(to *storedSession, r *eventrow.Row, values []stateValue) error {
	unit, err := w.findUnit(to.key, r)
	if err != nil {
		return err
	}
	key, err := w.insert(to, r, unit)
	if err != nil {
		return err
	}
	if err := w.do(w.touchSession, r.Time, int64(r.Speaker), int64(r.Speaker), to.key); err != nil {
		return err
	}
	if r.IsConversation && r.InvocationID != "" && r.InvocationID != to.latestInvocation() {
		if err := w.do(w.addInvocation, r.InvocationID, to.key); err != nil {
			return err
		}
	}
	if unit.any {
		if err := w.link(to.key, key, r, unit); err != nil {
			return err
		}
	}
	if r.Meta != nil {
		clean, err := w.markCovered(to.key, key, r)
		if err != nil {
			return err
		}
		if !clean {
			if err := w.do(w.setConflicted, to.key); err != nil {
				return err
			}
		}
	}
	return w.setState(to.key, to.app, to.user, values)
}

// insert adds the row of an event after the newest one of its session, and returns its key. The
// digest of the row depends on the previous row. If another process appended since the writer
// cached that row, insert reads it again and retries once.
func (w *writer) insert(to *storedSession, r *eventrow.Row, unit unit) (key int64, err error) {
	content := w.digests.Content(r)
	for {
		last, remembered, err := w.head(to)
		if err != nil {
			return 0, err
		}
		now := head{seq: last.seq + 1, digest: w.digests.Next(last.digest, last.seq+1, content)}
		result, err := w.addEvent.ExecContext(context.Background(),
			r.ID, r.Time, r.InvocationID, r.Author, r.Branch, r.Content, r.Actions,
			r.Usage, r.Custom, r.LongRunning, r.Extra, r.Record, unit.column(), unit.column(), now.digest[:],
			to.key, to.app, to.user, to.id, last.seq)
		if err != nil {
			return 0, w.orExists(err, to, r.ID)
		}
		n, err := result.RowsAffected()
		switch {
		case err != nil:
			return 0, err
		case n > 0:
			w.remember(to.key, now)
			return result.LastInsertId()
		case !remembered:
			return 0, fmt.Errorf("%w: %q, cannot append event", adk.ErrNotFound, to.id)
		}
		delete(w.heads, to.key) // another process appended an event or deleted the session
	}
}

// affected runs a statement and returns the number of rows that it changed.
func (w *writer) affected(stmt *sql.Stmt, args ...any) (int64, error) {
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// orExists returns ErrEventExists if the session has the event's ID already, and the failure
// otherwise.
func (w *writer) orExists(failure error, to *storedSession, id string) error {
	var found int
	err := w.findEvent.QueryRowContext(context.Background(), to.key, id).Scan(&found)
	switch {
	case err == nil:
		return fmt.Errorf("%w: %q in session %q", ErrEventExists, id, to.id)
	case errors.Is(err, sql.ErrNoRows):
		return failure
	default:
		return errors.Join(failure, err)
	}
}
