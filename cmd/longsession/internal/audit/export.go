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

// Formats lists them, the default first.
var Formats = []string{JSONL, Markdown, HTML}

// writer writes an export event by event.
type writer interface {
	begin(of *Session) error
	event(row *persistence.Row) error
	end() error
}

// Export writes everything that a session has stored, records included, in the order of the
// commits, without the matches of r. It returns the number of events. [JSONL] is one session.Event
// per line, as encoding/json writes it, with its time moved to the nearest year from 0 to 9999.
// [Markdown] and [HTML] are for people; they escape everything that a terminal or a page would
// obey. Export holds one page of the history in memory at a time.
//
// An event that cannot be read is an error. So is a match that cannot be redacted; that error wraps
// [ErrRedact]. With r, Export goes through the session twice, or three times if it has summaries,
// and writes nothing to to before it knows that the whole export is clean.
func (f *File) Export(ctx context.Context, s *Session, format string, r *redact.Redactor, to io.Writer) (n int, err error) {
	limit, x := -1, newRedaction(r)
	for again := r != nil; again; {
		values := len(x.cuts.values)
		if limit, err = f.export(ctx, s, format, x, limit, io.Discard); err != nil {
			return 0, x.err(err)
		}
		// A summary may come before the event whose text it quotes the beginning of.
		again = x.cuts.asked && len(x.cuts.values) > values
	}
	n, err = f.export(ctx, s, format, x, limit, to)
	return n, x.err(err)
}

// export goes once through limit events; a negative limit means all.
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

// writable returns an event whose time JSON can write. It moves times before year 0 and after year
// 9999.
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

// jsonl writes one event per line.
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
