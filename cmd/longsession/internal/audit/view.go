package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
)

// Size is the size of a session and of its view. Tokens are estimates.
type Size struct {
	ViewEvents int `json:"view_events"`
	Summaries  int `json:"summaries"`
	ViewTokens int `json:"view_tokens"`
	// AllTokens is the size of all events in a prompt, without the records.
	AllTokens int `json:"all_tokens"`
	Made
}

// View is what the model would see of a session now.
type View struct {
	// Entries are some of the events of the view, or all, in order, with contents. A summary has no Seq, and the
	// record that it is of. The response that a view adds for an interrupted call has no Seq either.
	Entries []Entry
	// Events and Tokens are the size of the whole view. Tokens is an estimate.
	Events, Tokens int
}

// View returns the view of a session and, of its events, at most limit from a position on, which counts from 0. A
// negative limit means all. It reads the stored events that it returns and those that the view is made of.
func (f *File) View(ctx context.Context, s *Session, from, limit int) (*View, error) {
	v := &View{Entries: []Entry{}}
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		now, err := sessionIn(ctx, snap, s)
		if err != nil {
			return err
		}
		events, err := f.viewIn(ctx, snap, now)
		if err != nil {
			return reason(ctx, snap, now, err)
		}
		v.Events = len(events)
		for _, ev := range events {
			v.Tokens += size(ev)
		}
		events = events[min(max(from, 0), len(events)):]
		if limit >= 0 {
			events = events[:min(limit, len(events))]
		}
		v.Entries, err = entriesIn(ctx, snap, now, events)
		return err
	})
	return v, err
}

// reason returns, instead of the error of a view, one that names the first event that cannot be read, if there is one.
func reason(ctx context.Context, snap *persistence.Snapshot, s *Session, err error) error {
	l, loadErr := loadRows(ctx, snap, s)
	if loadErr != nil {
		return err
	}
	return cmp.Or(l.unreadable, err)
}

// entriesIn returns events of a view for people to read.
func entriesIn(ctx context.Context, snap *persistence.Snapshot, s *Session, events []*session.Event) ([]Entry, error) {
	out := make([]Entry, 0, len(events))
	var stored []*sessionfile.Row
	var from rowReader
	for _, ev := range events {
		row, err := from.rowOf(ctx, snap, s, ev)
		if err != nil {
			return nil, err
		}
		e := Entry{}
		switch {
		case row != nil:
			stored = append(stored, row)
			e.Seq, e.CoveredBy, ev = row.Seq, row.CoveredBy, row.Event
		case !view.IsStandIn(ev):
			if e.Record, err = currentRecord(ctx, snap, s, ev.ID); err != nil {
				return nil, err
			}
		}
		e.Content = ev.Content
		e.take(ev)
		out = append(out, e)
	}
	notes, err := annotatorOf(ctx, snap, s, stored)
	if err != nil {
		return nil, err
	}
	for i := range out {
		notes.annotate(&out[i])
	}
	return out, nil
}

// rowReader finds the stored events of a view. Most of them follow one another, and all of a session that was never
// compacted do, so it reads ahead as long as they do.
type rowReader struct {
	ahead []*sessionfile.Row
	next  int64 // the number behind the event that was found last
	most  int   // how many rows the newest query asked for
}

// mostAhead bounds the rows that one query returns.
const mostAhead = 64

// rowOf returns the stored event that an event of a view is, nil for a summary and for a stand-in.
func (r *rowReader) rowOf(ctx context.Context, snap *persistence.Snapshot, s *Session, ev *session.Event) (*sessionfile.Row, error) {
	if len(r.ahead) == 0 || r.ahead[0].ID != ev.ID {
		seq, found := int64(0), false
		err := answers(ctx, snap, "events", "SELECT seq FROM events WHERE session = ? AND id = ? AND record_id IS NULL", []any{s.key, ev.ID}, []any{&seq}, func() { found = true })
		if err != nil || !found {
			return nil, err
		}
		if seq == r.next {
			r.most = min(2*r.most, mostAhead)
		} else {
			r.most = 1
		}
		if r.ahead, err = rowsIn(ctx, snap, s, seq, r.most); err != nil {
			return nil, err
		}
	}
	row := r.ahead[0]
	r.ahead, r.next = r.ahead[1:], row.Seq+1
	if row.Record || row.Event == nil || !row.Event.Timestamp.Equal(ev.Timestamp) {
		return nil, nil
	}
	return row, nil
}

// currentRecord returns the record of a summary in the view, nil if it is not stored as one.
func currentRecord(ctx context.Context, snap *persistence.Snapshot, s *Session, id string) (*Compaction, error) {
	row, err := recordRow(ctx, snap, s, id)
	if err != nil || row == nil {
		return nil, err
	}
	c := compactionOf(row)
	c.State = Current
	return &c, nil
}

// recordRow returns the first event that is stored as the record with an ID, nil if there is none.
func recordRow(ctx context.Context, snap *persistence.Snapshot, s *Session, id string) (*sessionfile.Row, error) {
	seq, found := int64(0), false
	const question = "SELECT seq FROM events WHERE session = ? AND record_id = ? ORDER BY seq LIMIT 1"
	if err := answers(ctx, snap, "events", question, []any{s.key, id}, []any{&seq}, func() { found = true }); err != nil || !found {
		return nil, err
	}
	rows, err := rowsIn(ctx, snap, s, seq, 1)
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Size returns the sizes of a session and its view, and the session as it is now. It holds the view
// and one event of the history in memory at a time. The error wraps [compaction.ErrNotFound] if the
// session was deleted meanwhile.
func (f *File) Size(ctx context.Context, s *Session) (now *Session, of Size, err error) {
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		records := counted{}
		if now, err = sessionIn(ctx, snap, s); err != nil {
			return err
		}
		view, err := f.viewIn(ctx, snap, s)
		if err != nil {
			return err
		}
		shown := map[string]bool{} // by ID: whether it is stored
		for _, ev := range view {
			shown[ev.ID] = false
		}
		for row, err := range sessionfile.Rows(ctx, snap, s.key, first, -1) {
			if err != nil {
				return err
			}
			if row.Event == nil {
				continue
			}
			if row.Record {
				records.take(row.Event)
				continue
			}
			of.AllTokens += size(row.Event)
			if _, is := shown[row.ID]; is {
				shown[row.ID] = true
			}
		}
		of = of.with(view, func(ev *session.Event) bool { return shown[ev.ID] })
		of.Made = records.Made
		return nil
	})
	if err != nil {
		return nil, Size{}, err
	}
	return now, of, nil
}

// with adds the size of a view. stored reports whether an event is part of the history, which a
// summary is not.
func (s Size) with(events []*session.Event, stored func(*session.Event) bool) Size {
	for _, ev := range events {
		s.ViewEvents++
		s.ViewTokens += size(ev)
		if !stored(ev) && !view.IsStandIn(ev) {
			s.Summaries++
		}
	}
	return s
}

// Overview sums a session up.
type Overview struct {
	*Session
	Size
	// First and Last are the times of the first and the last event, as their writers recorded them.
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
	// Turns counts the invocations in which something was said.
	Turns int `json:"turns"`
	// Newest is the newest readable compaction, or nil.
	Newest   *Compaction `json:"newest,omitempty"`
	Findings []Finding   `json:"findings"`
	// Checkpoints counts the records of finished tasks, and Pending the calls by which a model reported
	// one that no record answers.
	Checkpoints int `json:"checkpoints"`
	Pending     int `json:"pending_checkpoints"`
	// Error is the reason why the view could not be made. Then the sizes of the view are 0, and
	// Newest is nil.
	Error string `json:"error,omitempty"`
}

// Overview sums a session up and checks it as [File.Verify] does. If the view could not be made, it
// still has everything that does not depend on the view.
func (f *File) Overview(ctx context.Context, s *Session, maxSummaries int) (*Overview, error) {
	l, found, err := f.examine(ctx, s, maxSummaries)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.Warning })
	o := &Overview{Session: l.Session, Findings: append([]Finding{}, Causes(found, nil)...)}
	notes, err := Annotate(ctx, f, l.Session, first)
	if err != nil {
		return nil, err
	}
	turns, records := map[string]bool{}, counted{}
	for _, row := range l.rows {
		if row.Event == nil {
			continue
		}
		records.take(row.Event)
		if o.Last = stamp(row.Event.Timestamp); o.First == "" {
			o.First = o.Last
		}
		if row.Record {
			continue
		}
		o.AllTokens += size(row.Event)
		o.Pending += notes.pending(row)
		if speaks(row.Event) && row.Event.InvocationID != "" {
			turns[row.Event.InvocationID] = true
		}
	}
	o.Turns, o.Checkpoints, o.Made = len(turns), notes.written(), records.Made
	if unread := slices.IndexFunc(found, Finding.unread); unread >= 0 {
		o.Error = found[unread].Text
		if seq := found[unread].Seq; seq != 0 {
			o.Error = fmt.Sprintf("event %d %s", seq, o.Error)
		}
	} else {
		o.Size = o.with(l.view, func(ev *session.Event) bool { return l.seq[ev] > 0 })
		o.Newest = latest(l.compactions(), func(c *Compaction) bool { return c.State != Unreadable && c.State != Copy })
	}
	return o, nil
}

// latest returns the last compaction for which is returns true, or nil.
func latest(of []Compaction, is func(*Compaction) bool) *Compaction {
	for _, c := range slices.Backward(of) {
		if is(&c) {
			return &c
		}
	}
	return nil
}
