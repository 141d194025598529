package eventrow

import (
	"database/sql"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"
	"google.golang.org/adk/session"
)

// Columns are the columns of the table events that a [Stored] row has, in their order.
const Columns = `id, time, invocation_id, author, branch, content, actions, usage_metadata, custom_metadata, long_running_tool_ids, extra,
	seq, covered_by IS NOT NULL`

// chunk is how many events one goroutine decodes while the reader scans more.
const chunk = 64

// Scan returns the events of rows. It calls note, which may be nil, for each row. Decoding costs
// more than reading, so it decodes full chunks on all processors and only the last, smaller one
// by itself.
func Scan(rows *sql.Rows, err error, count int, note func(*Stored)) ([]*session.Event, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var decoding errgroup.Group
	decoding.SetLimit(runtime.GOMAXPROCS(0))
	var parts [][]*session.Event
	for {
		read, err := scanChunk(rows)
		if err != nil {
			return nil, errors.Join(err, decoding.Wait())
		}
		for i := range read {
			if note != nil {
				note(&read[i])
			}
		}
		part := make([]*session.Event, len(read))
		parts = append(parts, part)
		if len(read) < chunk {
			err := decodeAll(read, part)
			if err = errors.Join(err, decoding.Wait()); err != nil {
				return nil, err
			}
			break
		}
		decoding.Go(func() error { return decodeAll(read, part) })
	}
	loaded := make([]*session.Event, 0, count)
	for _, part := range parts {
		loaded = append(loaded, part...)
	}
	return loaded, nil
}

// scanChunk reads up to one chunk of rows.
func scanChunk(rows *sql.Rows) ([]Stored, error) {
	read := make([]Stored, 0, chunk)
	for len(read) < chunk && rows.Next() {
		read = append(read, Stored{})
		if err := rows.Scan(read[len(read)-1].Fields()...); err != nil {
			return nil, err
		}
	}
	return read, rows.Err()
}

// decodeAll decodes rows into events.
func decodeAll(read []Stored, into []*session.Event) (err error) {
	for i := range read {
		if into[i], err = Decode(&read[i]); err != nil {
			return err
		}
	}
	return nil
}

// ScanSome returns the events of rows. An event without anything stands for a row that cannot be decoded.
func ScanSome(rows *sql.Rows, err error, count int) ([]*session.Event, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make([]*session.Event, 0, count)
	for {
		read, err := scanChunk(rows)
		if err != nil {
			return nil, err
		}
		for i := range read {
			ev, err := Decode(&read[i])
			if err != nil {
				ev = &session.Event{}
			}
			out = append(out, ev)
		}
		if len(read) < chunk {
			return out, nil
		}
	}
}
