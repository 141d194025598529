// Package sessionfile has what is known of a session file beyond its events: whether it may be opened, the migrations
// that make its tables, the chain of digests, prepared statements, and what an audit reads. docs/schema.md describes the
// tables.
package sessionfile

import (
	"cmp"
	"context"
	"database/sql"
	"iter"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

// Querier is one state of a session file, such as that of a [persistence.Snapshot]. Close the rows.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ScanOne scans the first row of a query into the targets. It returns [sql.ErrNoRows] if there is none.
func ScanOne(ctx context.Context, file Querier, query string, args []any, into ...any) error {
	rows, err := file.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	if rows.Next() {
		err = rows.Scan(into...)
	} else {
		err = cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	return cmp.Or(err, rows.Close())
}

const selectRows = `SELECT ` + eventrow.Columns + `, coalesce(record_id, ''), coalesce(covered_by, ''), record_id IS NOT NULL,
		coalesce(unit, 0), coalesce(anchor, 0)
	FROM events WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`

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

	raw *eventrow.Stored
}

// Unknown returns what Event lacks of the row, see [eventrow.Stored.Unknown]. Call it before the next row is yielded: after
// that, a row that somebody keeps has no columns any more.
func (r *Row) Unknown() (fields []string, within bool) { return r.raw.Unknown() }

// Rows yields the events of the session with this key in the table sessions, in order: at most
// limit events, or all if limit is negative, beginning with the first whose number is at least
// from. It holds one row at a time. An error ends the sequence.
func Rows(ctx context.Context, file Querier, session, from int64, limit int) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		rows, err := file.Query(ctx, selectRows, session, from, limit)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			raw := &eventrow.Stored{}
			row := &Row{raw: raw}
			if err := rows.Scan(append(raw.Fields(), &row.RecordID, &row.CoveredBy, &row.Record, &row.Unit, &row.Anchor)...); err != nil {
				yield(nil, err)
				return
			}
			row.Seq, row.ID, row.Time, row.Covered = raw.Seq, raw.ID, raw.Time, raw.Covered
			if row.Event, row.Err = eventrow.Decode(raw); row.Err == nil {
				row.Err = eventrow.WithDigits(row.Event, raw)
			}
			if !yield(row, nil) {
				return
			}
			row.raw = nil
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
