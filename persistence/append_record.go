package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/ids"
	"github.com/adk-go-ext/longsession/record"
)

const (
	selectTarget     = `SELECT key, updated_at, last_seq, contested FROM sessions WHERE app = ? AND user = ? AND id = ?`
	selectRecordByID = `SELECT ` + eventrow.Columns + ` FROM events WHERE session = ? AND record_id = ? ORDER BY key LIMIT 1`
	updateLength     = `UPDATE sessions SET last_seq = last_seq + 1 WHERE key = ?`
)

// ErrRecordSuperseded marks a compaction record that [SQLiteSessionService.AppendRecord] did not
// store because the session has moved on: one of its references no longer names an event, another
// record already covers one of its events, or a record that it absorbs has been absorbed or
// replaced. Code that must not import this package recognizes it with errors.As and interface{
// Superseded() bool }.
var ErrRecordSuperseded error = superseded{}

type superseded struct{}

func (superseded) Error() string { return "the record is superseded" }

// Superseded reports that the record was not stored because it is out of date. It always returns
// true.
func (superseded) Superseded() bool { return true }

// AppendRecord stores a compaction record: an event without content that carries the record in
// CustomMetadata[record.Key]. sess only names the session. It may be stale, wrapped, or a handle of
// another service, and it is not changed.
//
// The record is an insertion and no more. It sets no state, and it does not move the session's
// update time: the event is stored with that time as its Timestamp, whatever Timestamp ev has. ev
// gets the Timestamp that was stored, and an ID if it had none.
//
// In the same transaction AppendRecord checks that each event that the record covers exists and is
// not covered yet, and that each record that it absorbs is still current. Otherwise it stores
// nothing and returns an error wrapping [ErrRecordSuperseded]. Of two processes that summarize the
// same events, one stores its record and the other gets this error.
//
// A call whose outcome is unknown can be repeated. If the session already has a record with this
// record ID, nothing is stored, *ev becomes that event, and the result is nil. Errors wrap
// [compaction.ErrNotFound] if there is no such session. If ctx ends before the transaction begins,
// nothing is stored; if it ends later, the returned outcome is the true one.
func (s *SQLiteSessionService) AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error {
	switch {
	case isNil(sess):
		return errors.New("append record: session is nil")
	case ev == nil:
		return errors.New("append record: event is nil")
	}
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	kept, r, err := encodeRecord(ctx, ev)
	if err != nil {
		return s.explain("append record", err)
	}
	a := &recordAppend{app: sess.AppName(), user: sess.UserID(), id: sess.ID(), row: r}
	return s.explain("append record", s.submit(ctx, &write{
		run: a.run,
		committed: func() {
			if a.existing != nil {
				*ev = *a.existing
				return
			}
			ev.ID, ev.Timestamp = kept.ID, a.updatedAt
		},
	}))
}

// encodeRecord returns the event to store, without its time, and its row.
func encodeRecord(ctx context.Context, ev *session.Event) (*session.Event, eventrow.Row, error) {
	if !record.Is(ev) {
		return nil, eventrow.Row{}, fmt.Errorf("event %q is not a compaction record: it must have no content, and a record in CustomMetadata[%q]", ev.ID, record.Key)
	}
	if len(ev.Actions.StateDelta) > 0 {
		return nil, eventrow.Row{}, fmt.Errorf("event %q: a compaction record must not change state, and this one has a state delta", ev.ID)
	}
	kept := *ev
	kept.Partial = false
	kept.Timestamp = time.Time{} // run fills in the session's update time
	if kept.ID == "" {
		kept.ID = ids.New(ctx)
	}
	r, err := eventrow.Encode(&kept)
	if err != nil {
		return nil, eventrow.Row{}, err
	}
	if r.Meta == nil {
		back, err := eventrow.Decode(r.Stored())
		if err == nil {
			_, err = record.From(back)
		}
		return nil, eventrow.Row{}, fmt.Errorf("event %q: the record cannot be read: %w", ev.ID, err)
	}
	return &kept, r, nil
}

// recordAppend is one call of AppendRecord. The writer may call run again after a failed
// transaction.
type recordAppend struct {
	app, user, id string
	row           eventrow.Row

	updatedAt time.Time
	existing  *session.Event // set if the session has the record already
}

// run stores the record inside the transaction, unless the session has it already or has moved on.
func (a *recordAppend) run(w *writer) error {
	to := &storedSession{app: a.app, user: a.user, id: a.id}
	var size size
	err := w.findTarget.QueryRowContext(context.Background(), a.app, a.user, a.id).Scan(&to.key, &a.row.Time, &size.events, &size.conflicted)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %q, cannot append record", adk.ErrNotFound, a.id)
	}
	if err != nil {
		return err
	}
	if a.existing, err = w.recordByID(to.key, a.row.Meta.RecordID); a.existing != nil || err != nil {
		return err
	}
	if a.updatedAt, err = eventrow.ParseTime(a.row.Time, nil); err != nil {
		return err
	}
	// If the column covered_by is exact, marking the covered rows is the check. Otherwise
	// checkByRecords reads the records.
	exact := !size.conflicted && unambiguousRefs(a.row.Meta)
	if !exact {
		if err := w.checkByRecords(to.key, size.events, a.row.Meta); err != nil {
			return err
		}
	}
	key, err := w.insert(to, &a.row, unit{})
	if err != nil {
		return err
	}
	if err := w.do(w.lengthen, to.key); err != nil {
		return err
	}
	clean, err := w.markCovered(to.key, key, &a.row)
	switch {
	case err != nil:
		return err
	case clean:
		return nil
	case exact:
		return fmt.Errorf("%w: record %q: an event that it names is missing or covered by another record, or a record that it absorbs is no longer current",
			ErrRecordSuperseded, a.row.Meta.RecordID)
	}
	return w.do(w.setConflicted, to.key)
}

// recordByID returns the event of a record, nil if the session does not have it.
func (w *writer) recordByID(session int64, id string) (*session.Event, error) {
	rows, err := w.findRecord.QueryContext(context.Background(), session, id)
	found, err := eventrow.Scan(rows, err, 1, nil)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// unambiguousRefs reports whether every ID in a record's references matches at most one stored ID.
func unambiguousRefs(m *record.Metadata) bool {
	for _, ref := range m.Covered {
		if !unambiguous(ref.ID) {
			return false
		}
	}
	return !m.MidTurn() || unambiguous(m.After.ID)
}
