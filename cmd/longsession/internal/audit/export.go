package audit

import (
	"context"
	"fmt"
	"io"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// Formats of an export.
const (
	JSONL    = "jsonl"
	Markdown = "markdown"
)

// Formats lists them, the default first.
var Formats = []string{JSONL, Markdown}

// writer writes an export event by event. session is called before the events of each session, with the names of its
// records. A record whose ID was redacted has no name.
type writer interface {
	session(of *Session, named *Names) error
	event(row *sessionfile.Row) error
}

// Export writes everything that sessions have stored, records included, one session after the other and
// each in the order of the commits, without the matches of r. It returns the number of events. [JSONL] is
// one session.Event per line, as encoding/json writes it, with its time moved to the nearest year from 0
// to 9999; with several sessions, each line also has the ID of its session as sessionId.
// [Markdown] is for people; it escapes everything that a terminal or a page would obey. Export holds one page of the
// history in memory at a time.
//
// An event that cannot be read is an error. So is a match that cannot be redacted; that error wraps
// [ErrRedact]. With r, Export goes through the session twice, or three times if it has summaries,
// and writes nothing to to before it knows that the whole export is clean.
func (f *File) Export(ctx context.Context, sessions []*Session, format string, r *redact.Redactor, to io.Writer) (n int, err error) {
	limits, x := make([]int, len(sessions)), newRedaction(r)
	for i := range limits {
		limits[i] = -1
	}
	for again := r != nil; again; {
		known := x.cuts.size()
		if limits, err = f.export(ctx, sessions, format, x, limits, io.Discard); err != nil {
			return 0, x.err(err)
		}
		// A summary may come before the event whose text it quotes the beginning of.
		again = x.cuts.asked && x.cuts.size() > known
	}
	written, err := f.export(ctx, sessions, format, x, limits, to)
	for _, of := range written {
		n += of
	}
	return n, x.err(err)
}

// export goes once through limited numbers of events of the sessions; a negative limit means all. It
// returns how many it wrote of each.
func (f *File) export(ctx context.Context, sessions []*Session, format string, x *redaction, limits []int, to io.Writer) (written []int, err error) {
	to = terminal.Harmless(to)
	var w writer
	switch format {
	case JSONL:
		w = &jsonl{to: to, x: x, several: len(sessions) > 1}
	case Markdown:
		w = &markdown{to: to, x: x}
	default:
		return nil, fmt.Errorf("format %q: choose one of %q", format, Formats)
	}
	for i, s := range sessions {
		named, err := ReadNames(ctx, f, s)
		if err != nil {
			return written, err
		}
		if err := w.session(x.session(s), named); err != nil {
			return written, fmt.Errorf("session %q: %w", s.Name(), err)
		}
		n, err := exportEvents(ctx, f, s, w, x, limits[i])
		if written = append(written, n); err != nil {
			return written, err
		}
	}
	return written, nil
}

// exportEvents writes the events of one session.
func exportEvents(ctx context.Context, f *File, s *Session, w writer, x *redaction, limit int) (n int, err error) {
	for row, err := range f.Rows(ctx, s, 0, limit) {
		if err != nil {
			return n, err
		}
		if row.Err != nil {
			return n, cannotRead(s, row)
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
	return n, nil
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

// jsonl writes one event per line. Of several sessions, each line says whose it is, so that a reader
// does not mix them up.
type jsonl struct {
	to      io.Writer
	x       *redaction
	several bool
	id      string // of the session
}

func (w *jsonl) session(of *Session, _ *Names) error { w.id = of.ID; return nil }

func (w *jsonl) event(row *sessionfile.Row) error {
	line, err := marshal(row.Event)
	if err != nil {
		return err
	}
	if w.several {
		id, err := marshal(map[string]string{"sessionId": w.id})
		if err != nil {
			return err
		}
		line = append(append(id[:len(id)-1], ','), line[1:]...)
	}
	if err := w.x.check(string(line)); err != nil {
		return err
	}
	_, err = w.to.Write(append(line, '\n'))
	return err
}
