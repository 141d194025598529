package audit

import (
	"context"
	"fmt"
	"io"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/persistence"
)

// Formats of an export.
const (
	JSONL    = "jsonl"
	Markdown = "markdown"
	HTML     = "html"
)

// Formats are all of them, the default first.
var Formats = []string{JSONL, Markdown, HTML}

// writer writes an export event by event.
type writer interface {
	begin(of *Session) error
	event(row *persistence.Row) error
	end() error
}

// Export writes everything that a session has stored, records included, in the order of the commits, without
// what r takes out, and returns how many events that were. [JSONL] is one session.Event a line, as
// encoding/json writes it and reads it back, its time moved to the nearest year from 0 to 9999; [Markdown] and
// [HTML] are for people: what a terminal or a page would act on is escaped in them. It holds one page of the
// history at a time. An event that cannot be read is an error. So is a match that cannot be left out, which
// wraps [ErrRedact]: with r everything is gone through twice, or three times where there are summaries, and to
// gets nothing before all of it is known to be clean.
func (f *File) Export(ctx context.Context, s *Session, format string, r *redact.Redactor, to io.Writer) (n int, err error) {
	limit, x := -1, newRedaction(r)
	for again := r != nil; again; {
		values := len(x.cuts.values)
		if limit, err = f.export(ctx, s, format, x, limit, io.Discard); err != nil {
			return 0, x.err(err)
		}
		// A summary may stand in front of an event with what it has the beginning of.
		again = x.cuts.asked && len(x.cuts.values) > values
	}
	n, err = f.export(ctx, s, format, x, limit, to)
	return n, x.err(err)
}

// export is Export of so many events, less than 0 for all, gone through once.
func (f *File) export(ctx context.Context, s *Session, format string, x *redaction, limit int, to io.Writer) (n int, err error) {
	var w writer
	switch format {
	case JSONL:
		w = jsonl{to, x}
	case Markdown:
		w = &markdown{to: to, x: x}
	case HTML:
		w = &document{to, x}
	default:
		return 0, fmt.Errorf("format %q: choose one of %q", format, Formats)
	}
	if err := w.begin(x.session(s)); err != nil {
		return 0, fmt.Errorf("session %q: %w", s.Name(), err)
	}
	for row, err := range f.Rows(ctx, s, 0, limit) {
		if err != nil {
			return n, err
		}
		if row.Err != nil {
			return n, fmt.Errorf("session %q: event %d cannot be read: %w: see 'audit verify'", s.Name(), row.Seq, row.Err)
		}
		shown := *row
		shown.Event, err = x.event(writable(row.Event))
		if err == nil {
			shown.ID, shown.RecordID, shown.CoveredBy = x.name(row.ID), x.name(row.RecordID), x.name(row.CoveredBy)
			err = w.event(&shown)
		}
		if err != nil {
			return n, fmt.Errorf("session %q: event %d: %w", s.Name(), row.Seq, err)
		}
		n++
	}
	return n, w.end()
}

// writable returns an event whose time JSON can write: the nearest for one before year 0 or after year 9999.
func writable(ev *session.Event) *session.Event {
	at := ev.Timestamp
	switch year := at.UTC().Year(); {
	case year < 0:
		at = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > 9999:
		at = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
	default:
		return ev
	}
	moved := *ev
	moved.Timestamp = at
	return &moved
}

// jsonl writes one event a line.
type jsonl struct {
	to io.Writer
	x  *redaction
}

func (jsonl) begin(*Session) error { return nil }
func (jsonl) end() error           { return nil }

func (w jsonl) event(row *persistence.Row) error {
	line, err := marshal(row.Event)
	if err != nil {
		return err
	}
	if err := w.x.check(string(line)); err != nil {
		return err
	}
	_, err = w.to.Write(append(line, '\n'))
	return err
}
