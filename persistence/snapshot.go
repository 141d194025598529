package persistence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"time"

	"google.golang.org/adk/session"
)

const selectRows = `SELECT ` + eventColumns + `, coalesce(record_id, ''), coalesce(covered_by, ''), record_id IS NOT NULL,
		coalesce(unit, 0), coalesce(anchor, 0)
	FROM events WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`

// Snapshot is one state of a session file, for questions that a session service cannot answer. It
// is not safe for concurrent use, and is valid only until the function that received it returns.
type Snapshot struct {
	conn *sql.Conn
	r    *reader // nil until a session is loaded, so that a file with a damaged schema can be queried too
}

// Row is one row of the table events, as docs/schema.md describes it.
type Row struct {
	Seq int64
	// ID is that of the event, even if Event is nil.
	ID string
	// Time is the column time.
	Time string
	// Record reports whether the event is marked as a compaction record. RecordID is the record's
	// ID, "" if the record was unreadable when it was stored.
	Record   bool
	RecordID string
	// Covered reports whether the row is marked as covered, and CoveredBy is the ID of the covering
	// record.
	Covered   bool
	CoveredBy string
	// Unit and Anchor are the columns of that name, 0 for NULL.
	Unit, Anchor int64
	// Event is nil if the row cannot be decoded, and Err is the reason. In arguments, results,
	// state and metadata, a number that float64 cannot represent exactly is an
	// [encoding/json.Number].
	Event *session.Event
	Err   error
}

// Snapshot calls do with the current state of the file, and returns the error of do. The service
// must have been opened with [WithReadOnly].
func (s *SQLiteSessionService) Snapshot(ctx context.Context, do func(*Snapshot) error) error {
	if s.readOnly == nil {
		return fmt.Errorf("persistence: %s: snapshot: open the file with WithReadOnly, so that no query can write", s.name)
	}
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	err = readSnapshot(ctx, s.db, s.busy, do)
	// If the file changed, that is the cause of any other error.
	if changed := s.readOnly.check(); changed != nil {
		err = changed
	}
	return s.explain("read", err)
}

// readSnapshot calls do with the current state of a database.
func readSnapshot(ctx context.Context, db *sql.DB, busy time.Duration, do func(*Snapshot) error) (err error) {
	conn, err := readingConn(ctx, db, busy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// As in every reading, BEGIN and ROLLBACK do not use ctx.
	if _, err := conn.ExecContext(context.Background(), "BEGIN"); err != nil {
		return err
	}
	defer func() {
		if _, endErr := conn.ExecContext(context.Background(), "ROLLBACK"); endErr != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool drops it
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

// GetActive is [SQLiteSessionService.GetActive] for this state.
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

// Query runs a SQL query. Close the rows before do returns.
func (s *Snapshot) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.conn.QueryContext(ctx, query, args...)
}

// Rows yields the events of the session with this key in the table sessions, in order: at most
// limit events, or all if limit is negative, beginning with the first whose number is at least
// from. It holds one row at a time. An error ends the sequence.
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
