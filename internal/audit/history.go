package audit

import (
	"context"
	"fmt"
	"iter"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/tokens"
)

// page is how many events are read at a time: each page is a short reading, so that nobody who writes has
// to keep old states for long, and little memory.
const page = 256

// Rows yields the stored events of a session in order, from the one with number from on and limit at most,
// less than 0 for all, up to what is stored when it gets there. An error ends it.
func (f *File) Rows(ctx context.Context, s *Session, from int64, limit int) iter.Seq2[*persistence.Row, error] {
	return func(yield func(*persistence.Row, error) bool) {
		for next := max(from, 1); limit != 0; {
			size := page
			if limit > 0 {
				size = min(page, limit)
			}
			rows, err := f.rows(ctx, s, next, size)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
				next = row.Seq + 1
			}
			if len(rows) < size {
				return
			}
			if limit > 0 {
				limit -= len(rows)
			}
		}
	}
}

func (f *File) rows(ctx context.Context, s *Session, from int64, limit int) (rows []*persistence.Row, err error) {
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		rows, err = rowsIn(ctx, snap, s, from, limit)
		return err
	})
	return rows, err
}

func rowsIn(ctx context.Context, snap *persistence.Snapshot, s *Session, from int64, limit int) ([]*persistence.Row, error) {
	var rows []*persistence.Row
	for row, err := range snap.Rows(ctx, s.key, from, limit) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// loaded is a whole session and what the model sees of it, at one moment.
type loaded struct {
	*Session
	rows []*persistence.Row
	// events are those of rows, and seq their numbers.
	events []*session.Event
	seq    map[*session.Event]int64
	byID   map[string]*session.Event // events that are no records
	// view holds events of the history by pointer, and summaries.
	view []*session.Event
	// records are the readable ones by their IDs, the first of each.
	records map[string]*record.Metadata
}

// tries is how often a session is read again because somebody appended to it between two readings.
const tries = 20

// load reads a session and its view. An event that cannot be read is an error.
func (f *File) load(ctx context.Context, s *Session) (*loaded, error) {
	for range tries {
		l, err := f.loadRows(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := l.readable(); err != nil {
			return nil, err
		}
		same, err := f.loadView(ctx, l)
		if same || err != nil {
			return l, err
		}
	}
	return nil, fmt.Errorf("session %q: somebody appends to it all the time: try again when the app is less busy", s.Name())
}

func (f *File) loadRows(ctx context.Context, s *Session) (*loaded, error) {
	l := &loaded{seq: map[*session.Event]int64{}, byID: map[string]*session.Event{}, records: map[string]*record.Metadata{}}
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		now, err := sessionsIn(ctx, snap, selectThat, s.key)
		if err != nil {
			return err
		}
		if len(now) == 0 {
			return fmt.Errorf("session %q: %w: it has just been deleted", s.Name(), session.ErrNotFound)
		}
		l.Session = now[0]
		l.rows, err = rowsIn(ctx, snap, s, 0, -1)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, row := range l.rows {
		if row.Event == nil {
			continue
		}
		l.events = append(l.events, row.Event)
		l.seq[row.Event] = row.Seq
		if !record.Is(row.Event) {
			l.byID[row.ID] = row.Event
		} else if m, err := record.From(row.Event); err == nil && l.records[m.RecordID] == nil {
			l.records[m.RecordID] = m
		}
	}
	return l, nil
}

// readable returns an error for the first event that cannot be read.
func (l *loaded) readable() error {
	for _, row := range l.rows {
		if row.Err != nil {
			return fmt.Errorf("session %q: event %d cannot be read: %w: see 'audit verify'", l.Name(), row.Seq, row.Err)
		}
	}
	return nil
}

// loadView adds the view; same is false if the session has grown since its rows were read.
func (f *File) loadView(ctx context.Context, l *loaded) (same bool, err error) {
	view, err := f.view(ctx, l.Session)
	if err != nil {
		return false, err
	}
	for i, ev := range view {
		if stored := l.byID[ev.ID]; stored != nil && ev.Timestamp.Equal(stored.Timestamp) {
			view[i] = stored
		}
	}
	l.view = view
	newer, err := f.rows(ctx, l.Session, l.last()+1, 1)
	return len(newer) == 0, err
}

func (l *loaded) last() int64 {
	if len(l.rows) == 0 {
		return 0
	}
	return l.rows[len(l.rows)-1].Seq
}

// size is what an event takes up in a prompt, in tokens, estimated.
func size(ev *session.Event) int { return tokens.OfEvent(ev) + selector.EventOverhead }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
