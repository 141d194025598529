package adkdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/ids"
	"github.com/adk-go-ext/longsession/record"
)

// ErrRecordSuperseded marks a compaction record that [Service.AppendRecord] did not store because the session has moved on: an
// event that it covers is missing or covered by another record, or a record that it absorbs has been absorbed or
// replaced. Code that must not import this package recognizes it with errors.As and interface{ Superseded() bool }.
var ErrRecordSuperseded error = superseded{}

type superseded struct{}

func (superseded) Error() string { return "the record is superseded" }

// Superseded reports that the record was not stored because it is out of date. It always returns true.
func (superseded) Superseded() bool { return true }

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// insertRecord takes the session's last update time as the event's, and nothing else of the session.
var insertRecord = func() string {
	column, value := "", ""
	if adk.Major == 2 {
		column, value = ", isolation_scope", ", ?"
	}
	return `INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, actions, branch, timestamp, custom_metadata, partial, turn_complete, interrupted` + column + `)
	SELECT ?, s.app_name, s.user_id, s.id, ?, ?, ?, ?, s.update_time, ?, FALSE, ?, FALSE` + value + ` FROM sessions s WHERE s.app_name = ? AND s.user_id = ? AND s.id = ?`
}()

// AppendRecord stores a compaction record: an event without content that carries the record in
// CustomMetadata[record.Key]. sess only names the session. It may be stale, wrapped, or a handle of another service, and
// it is not changed.
//
// The record is an insertion and no more. The session's row is not written, so no turn becomes stale or loses state, in this
// process or in another; the event is stored with the session's update time as its Timestamp, and ev.Timestamp becomes
// that. ev gets an ID if it has none.
//
// In the same transaction, behind a lock that keeps other records of the session out, AppendRecord checks that each event
// that the record covers is stored and covered by no other record, and that each record that it absorbs is still current.
// Otherwise it stores nothing and returns an error wrapping [ErrRecordSuperseded].
//
// A call whose outcome is unknown can be repeated: if the session already has a record with this record ID, nothing is
// stored, *ev becomes that event, and the result is nil. A transaction that the server ends because of another one (40001,
// deadlock) is tried again, up to 5 times. With the tables of [Install] it costs the same however many records the session
// has; without them, or if this role must not read them, the records are read. Errors wrap [compaction.ErrNotFound] if there is no such session, and else the
// driver's error. If ctx has ended, nothing is stored.
func (s *Service) AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error {
	switch {
	case isNil(sess):
		return errors.New("append record: session is nil")
	case ev == nil:
		return errors.New("append record: event is nil")
	}
	r, err := newRecordRow(ctx, ev)
	if err != nil {
		return fmt.Errorf("append record: %w", err)
	}
	kind, err := s.dialect(ctx)
	if err != nil {
		return fmt.Errorf("append record: %w", err)
	}
	of := key{sess.AppName(), sess.UserID(), sess.ID()}
	var stored *session.Event
	store := func() error {
		r.tables = kind == postgreSQL && s.partial.wanted()
		return s.transact(ctx, kind, func(tx *sql.Tx) (err error) {
			stored, err = r.store(ctx, tx, kind, of)
			return err
		})
	}
	err = store()
	if unreadable := (tablesError{}); errors.As(err, &unreadable) { // the transaction is over; the records decide in the next one
		s.partial.failed(unreadable.error)
		err = store()
	}
	switch {
	case adk.IsNotFound(err):
		return s.explainMissing(ctx, of, err)
	case err != nil:
		return fmt.Errorf("append record: %w", err)
	}
	if m, err := record.From(stored); err == nil && m != nil && stored.ID != r.id {
		*ev = *stored
		return nil
	}
	ev.ID, ev.Timestamp = stored.ID, stored.Timestamp
	return nil
}

// explainMissing tells a session that was deleted from one that only ADK's service finds: then the two look at different
// databases, and every record would be taken for one of a deleted session.
func (s *Service) explainMissing(ctx context.Context, of key, cause error) error {
	resp, err := s.inner.Get(ctx, &session.GetRequest{AppName: of.app, UserID: of.user, SessionID: of.id, NumRecentEvents: 1})
	if err == nil && resp != nil && !isNil(resp.Session) {
		return fmt.Errorf("append record: the inner service has session %q, and the database that was given to New has not: open the same database, with the same search_path", of.id)
	}
	return fmt.Errorf("append record: %w", cause)
}

// recordRow is the row of a record event.
type recordRow struct {
	id, invocation, author string
	branch, scope          sql.NullString // the scope is NULL on ADK v1
	actions                []byte
	custom                 string
	complete               bool
	meta                   *record.Metadata
	// tables is whether those of Install are asked first.
	tables bool
}

func newRecordRow(ctx context.Context, ev *session.Event) (*recordRow, error) {
	if !record.Is(ev) {
		return nil, fmt.Errorf("event %q is not a compaction record: it must have no content, and a record in CustomMetadata[%q]", ev.ID, record.Key)
	}
	if len(ev.Actions.StateDelta) > 0 {
		return nil, fmt.Errorf("event %q: a compaction record must not change state, and this one has a state delta", ev.ID)
	}
	meta, err := record.From(ev)
	if err != nil {
		return nil, fmt.Errorf("event %q: the record cannot be read: %w", ev.ID, err)
	}
	r := &recordRow{id: ev.ID, invocation: ev.InvocationID, author: ev.Author, complete: ev.TurnComplete, meta: meta}
	if r.id == "" {
		r.id = ids.New(ctx)
	}
	r.branch = sql.NullString{String: ev.Branch, Valid: ev.Branch != ""}
	r.scope = sql.NullString{String: adk.ScopeOf(ev), Valid: adk.ScopeOf(ev) != ""}
	if r.actions, err = json.Marshal(ev.Actions); err != nil {
		return nil, fmt.Errorf("event %q: actions: %w", ev.ID, err)
	}
	custom, err := json.Marshal(ev.CustomMetadata)
	if err != nil {
		return nil, fmt.Errorf("event %q: custom metadata: %w", ev.ID, err)
	}
	r.custom = string(custom)
	return r, nil
}

// store stores the record inside a transaction, unless the session has it already or has moved on. It returns the event that
// stores it.
func (r *recordRow) store(ctx context.Context, tx *sql.Tx, kind dialect, of key) (*session.Event, error) {
	found, err := lock(ctx, tx, kind, of)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("%w: %q", adk.ErrNotFound, of.id)
	}
	fits, err := r.fits(ctx, tx, of)
	if err != nil {
		return nil, err
	}
	if !fits { // or nobody knows
		existing, err := r.check(ctx, tx, kind, of)
		if existing != nil || err != nil {
			return existing, err
		}
	}
	args := []any{r.id, r.invocation, r.author, r.actions, r.branch, r.custom, r.complete}
	if adk.Major == 2 {
		args = append(args, r.scope)
	}
	result, err := tx.ExecContext(ctx, kind.sql(insertRecord), append(args, of.args()...)...)
	if err != nil {
		return nil, err
	}
	if n, err := result.RowsAffected(); err == nil && n == 0 { // deleted since the lock
		return nil, fmt.Errorf("%w: %q", adk.ErrNotFound, of.id)
	}
	rows, err := tx.QueryContext(ctx, kind.sql(`SELECT `+eventColumns+` FROM events e WHERE id = ? AND `+whereSession), append([]any{r.id}, of.args()...)...)
	stored, err := scanEvents(rows, err)
	if err == nil && len(stored) != 1 {
		err = fmt.Errorf("event %q was stored, and is not found", r.id)
	}
	if err != nil {
		return nil, err
	}
	return stored[0], nil
}
