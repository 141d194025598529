package persistence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/adk/session"
)

const selectRows = `SELECT ` + eventColumns + `, coalesce(record_id, ''), coalesce(covered_by, ''), record_id IS NOT NULL,
		coalesce(unit, 0), coalesce(anchor, 0)
	FROM events WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`

// Snapshot is one state of a session file, for questions that a session service does not answer. It is not
// safe for concurrent use, and of no use once the function that it was given to has returned.
type Snapshot struct {
	conn *sql.Conn
	r    *reader // nil until a session is loaded: a file with a damaged schema can be asked all the same
}

// Row is one row of the table events, as docs/schema.md describes it.
type Row struct {
	Seq int64
	// ID of the event, also where Event is nil.
	ID string
	// Time is the column time.
	Time string
	// Record reports whether the event is marked as a compaction record, and RecordID is the record's ID,
	// "" for one that could not be read when it was stored.
	Record   bool
	RecordID string
	// Covered reports whether the row is marked as covered, and CoveredBy is the ID of the record that it is
	// marked with.
	Covered   bool
	CoveredBy string
	// Unit and Anchor are the columns of that name, 0 for NULL.
	Unit, Anchor int64
	// Event is nil where the row cannot be read as one, and Err says why. In its arguments, results, state
	// and metadata, a number that is no float64 to the last digit is a [encoding/json.Number].
	Event *session.Event
	Err   error
}

// Snapshot calls do with the state of the file as it is now, and returns its error. Only a service that was
// opened with [WithReadOnly] has snapshots.
func (s *SQLiteSessionService) Snapshot(ctx context.Context, do func(*Snapshot) error) error {
	if s.readOnly == nil {
		return fmt.Errorf("persistence: %s: snapshot: open the file with WithReadOnly, so that no query can write", s.name)
	}
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	err = s.snapshot(ctx, do)
	// A state that changed under the reading explains whatever else went wrong.
	if changed := s.readOnly.check(); changed != nil {
		err = changed
	}
	return s.explain("read", err)
}

func (s *SQLiteSessionService) snapshot(ctx context.Context, do func(*Snapshot) error) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := pragmas(ctx, conn, fmt.Sprintf("busy_timeout = %d", s.busy.Milliseconds()), "query_only = ON"); err != nil {
		return err
	}
	// As in every reading, the transaction begins and ends whatever becomes of ctx.
	if _, err := conn.ExecContext(context.Background(), "BEGIN"); err != nil {
		return err
	}
	defer func() {
		if _, endErr := conn.ExecContext(context.Background(), "ROLLBACK"); endErr != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // nobody gets it again
		}
	}()
	snap := &Snapshot{conn: conn}
	defer func() {
		if snap.r != nil {
			err = errors.Join(err, snap.r.statements.close())
		}
	}()
	return do(snap)
}

// GetActive is [SQLiteSessionService.GetActive] of this state.
func (s *Snapshot) GetActive(ctx context.Context, req *session.GetRequest) (_ *session.GetResponse, err error) {
	if err := complete(req.AppName, req.UserID, req.SessionID); err != nil {
		return nil, err
	}
	if s.r == nil {
		if s.r, err = newReader(ctx, s.conn); err != nil {
			return nil, err
		}
	}
	sess, size, err := s.r.find(ctx, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return nil, err
	}
	found := &ActiveSession{storedSession: sess, stored: size.events}
	if err := s.r.loadActive(ctx, found, size); err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: found}, nil
}

// Query asks a question in SQL. The rows must be closed before do returns.
func (s *Snapshot) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.conn.QueryContext(ctx, query, args...)
}

// Rows yields the events of the session in row session of the table sessions, in order, from the one with
// number from on, which may be any number, and limit at most, less than 0 for all. It holds one at a time. An error ends it.
func (s *Snapshot) Rows(ctx context.Context, session, from int64, limit int) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		rows, err := s.Query(ctx, selectRows, session, from, limit)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var raw stored
			row := &Row{}
			if err := rows.Scan(append(raw.fields(), &row.RecordID, &row.CoveredBy, &row.Record, &row.Unit, &row.Anchor)...); err != nil {
				yield(nil, err)
				return
			}
			row.Seq, row.ID, row.Time, row.Covered = raw.seq, raw.id, raw.time, raw.covered
			if row.Event, row.Err = decode(&raw); row.Err == nil {
				row.Err = withDigits(row.Event, &raw)
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
