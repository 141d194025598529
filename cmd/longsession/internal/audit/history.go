package audit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// page is the number of events that are read at a time. A page takes little memory, and its
// snapshot is short, so writers do not have to keep old states of the file for long.
const page = 256

// first is a number before all events, even those whose number is wrongly below 1: an app reads
// them too.
const first = math.MinInt64

// Rows yields the stored events of a session in order: at most limit events, beginning with number
// from. A negative limit means all, and a from of 0 or 1 means all from the start. Rows includes
// events that are stored while it runs. An error ends it.
func (f *File) Rows(ctx context.Context, s *Session, from int64, limit int) iter.Seq2[*sessionfile.Row, error] {
	return func(yield func(*sessionfile.Row, error) bool) {
		next := from
		if from <= 1 {
			next = first
		}
		for limit != 0 {
			size := page
			if limit > 0 {
				size = min(page, limit)
			}
			var rows []*sessionfile.Row
			err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) (err error) {
				rows, err = rowsIn(ctx, snap, s, next, size)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
				next = row.Seq + 1 // wraps around only after the greatest number
			}
			if len(rows) < size || next == math.MinInt64 {
				return
			}
			if limit > 0 {
				limit -= len(rows)
			}
		}
	}
}

// rowsIn reads at most limit rows, beginning with number from, within one snapshot.
func rowsIn(ctx context.Context, snap *persistence.Snapshot, s *Session, from int64, limit int) ([]*sessionfile.Row, error) {
	var rows []*sessionfile.Row
	for row, err := range sessionfile.Rows(ctx, snap, s.key, from, limit) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// loaded is a whole session and its view at one moment.
type loaded struct {
	*Session
	rows []*sessionfile.Row
	// unreadable is the error of the first event that cannot be read.
	unreadable error
	// events are the events of rows, and seq their numbers.
	events []*session.Event
	seq    map[*session.Event]int64
	byID   map[string]*session.Event // events other than records
	// view has pointers to events of the history, and summaries.
	view []*session.Event
	// records has the readable records by ID: the first of each.
	records map[string]*record.Metadata
	// recordSeq has the numbers of their events.
	recordSeq map[string]int64
	// undigested counts the rows without a digest, if the chain was checked.
	undigested int64
}

// load reads a session and its view. An event that cannot be read is an error.
func (f *File) load(ctx context.Context, s *Session) (l *loaded, err error) {
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		if l, err = loadRows(ctx, snap, s); err != nil {
			return err
		}
		if l.unreadable != nil {
			return l.unreadable
		}
		return f.loadView(ctx, snap, l)
	})
	return l, err
}

// sessionIn returns a session as it is in a snapshot.
func sessionIn(ctx context.Context, snap *persistence.Snapshot, s *Session) (*Session, error) {
	now, err := sessionsIn(ctx, snap, selectThat, s.key)
	if err != nil {
		return nil, err
	}
	if len(now) == 0 {
		return nil, fmt.Errorf("session %q: %w: it was just deleted", s.Name(), adk.ErrNotFound)
	}
	now[0].Parent, now[0].Call, now[0].Children, now[0].parent, now[0].Ledger = s.Parent, s.Call, s.Children, s.parent, s.Ledger
	return now[0], nil
}

// loadRows reads all rows of a session and sorts them: events by ID, and records by theirs. It keeps
// the first of several records with the same ID, as an app does.
func loadRows(ctx context.Context, snap *persistence.Snapshot, s *Session) (_ *loaded, err error) {
	l := &loaded{seq: map[*session.Event]int64{}, byID: map[string]*session.Event{}, records: map[string]*record.Metadata{}, recordSeq: map[string]int64{}}
	if l.Session, err = sessionIn(ctx, snap, s); err != nil {
		return nil, err
	}
	if l.rows, err = rowsIn(ctx, snap, s, first, -1); err != nil {
		return nil, err
	}
	for _, row := range l.rows {
		if row.Err != nil {
			l.unreadable = cmp.Or(l.unreadable, cannotRead(s, row))
		}
		if row.Event == nil {
			continue
		}
		l.events = append(l.events, row.Event)
		l.seq[row.Event] = row.Seq
		if !record.Is(row.Event) {
			l.byID[row.ID] = row.Event
		} else if m, err := record.From(row.Event); err == nil && l.records[m.RecordID] == nil {
			l.records[m.RecordID], l.recordSeq[m.RecordID] = m, row.Seq
		}
	}
	return l, nil
}

func cannotRead(s *Session, row *sessionfile.Row) error {
	return fmt.Errorf("session %q: event %d cannot be read: %w: see 'longsession audit verify'", s.Name(), row.Seq, row.Err)
}

// loadView adds the view. An app's code makes events of its own from the stored rows, so loadView
// replaces each by the event of the history with the same ID and time. Only summaries, and stand-ins
// for interrupted calls, then remain without a number.
func (f *File) loadView(ctx context.Context, snap *persistence.Snapshot, l *loaded) error {
	view, err := f.viewIn(ctx, snap, l.Session)
	if err != nil {
		return err
	}
	for i, ev := range view {
		if stored := l.byID[ev.ID]; stored != nil && ev.Timestamp.Equal(stored.Timestamp) {
			view[i] = stored
		}
	}
	l.view = view
	return nil
}

// size is the estimated size of an event in a prompt, in tokens.
func size(ev *session.Event) int { return promptsize.OfEvent(ev) }

// stamp writes a time as all results do: UTC, RFC 3339, as many digits as it has.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
