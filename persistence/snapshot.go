package persistence

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"google.golang.org/adk/session"
)

const selectRows = `SELECT ` + eventColumns + `, coalesce(record_id, ''), coalesce(covered_by, ''), record_id IS NOT NULL
	FROM events WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`

// Snapshot is one state of a session file, for questions that a session service does not answer. It is not
// safe for concurrent use, and of no use once the function that it was given to has returned.
type Snapshot struct{ r *reader }

// Row is one row of the table events, as docs/schema.md describes it.
type Row struct {
	Seq int64
	// ID of the event, also where Event is nil.
	ID string
	// Record reports whether the event is marked as a compaction record, and RecordID is the record's ID,
	// "" for one that could not be read when it was stored.
	Record   bool
	RecordID string
	// CoveredBy is the ID of the record that the row is marked with, "" for none.
	CoveredBy string
	// Event is nil where the row cannot be read as one, and Err says why.
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
	return s.explain("read", s.read(ctx, func(r *reader) error { return do(&Snapshot{r}) }))
}

// Query asks a question in SQL. The rows must be closed before do returns.
func (s *Snapshot) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.r.conn.QueryContext(ctx, query, args...)
}

// Rows yields the events of the session in row session of the table sessions, in order, from the one with
// number from on and limit at most, less than 0 for all. It holds one at a time. An error ends it.
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
			if err := rows.Scan(append(raw.fields(), &row.RecordID, &row.CoveredBy, &row.Record)...); err != nil {
				yield(nil, err)
				return
			}
			row.Seq, row.ID = raw.seq, raw.id
			row.Event, row.Err = decode(&raw)
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
