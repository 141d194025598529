package view

import (
	"iter"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

var _ session.Events = (*Snapshot)(nil)

// Snapshot is a view at one moment. It is immutable and safe for concurrent use.
type Snapshot struct {
	view    []*session.Event
	current []*record.Metadata // of the view that this is a snapshot of
}

// NewSnapshot returns a snapshot that shows the given events as they are. The caller must not change
// the slice afterwards.
func NewSnapshot(events []*session.Event) *Snapshot { return &Snapshot{view: events} }

// With returns a snapshot of the same view that shows other forms of its events. The caller must not change
// the slice afterwards.
func (e *Snapshot) With(events []*session.Event) *Snapshot { return &Snapshot{events, e.current} }

// All yields the events in the order of the view.
func (e *Snapshot) All() iter.Seq[*session.Event] {
	return func(yield func(*session.Event) bool) {
		for _, ev := range e.view {
			if !yield(ev) {
				return
			}
		}
	}
}

// Len returns the number of events.
func (e *Snapshot) Len() int { return len(e.view) }

// At returns the event at index i, nil if there is none.
func (e *Snapshot) At(i int) *session.Event {
	if i < 0 || i >= len(e.view) {
		return nil
	}
	return e.view[i]
}

// Current returns the records whose summaries the view shows, as [View.Current] does. A snapshot made by
// [NewSnapshot] has none. The caller must not change them.
func (e *Snapshot) Current() []*record.Metadata { return e.current }

// Slice returns the events in the order of the view. The caller must not change the slice.
func (e *Snapshot) Slice() []*session.Event { return e.view[:len(e.view):len(e.view)] }

// From returns the part of the snapshot from index i on: all of it for i <= 0, nothing past the end.
func (e *Snapshot) From(i int) *Snapshot {
	if i <= 0 {
		return e
	}
	return &Snapshot{e.view[min(i, len(e.view)):], e.current}
}

// Collect copies a list of events into a new slice. A nil list is empty.
func Collect(events session.Events) []*session.Event {
	if events == nil {
		return nil
	}
	out := make([]*session.Event, 0, events.Len())
	for ev := range events.All() {
		out = append(out, ev)
	}
	return out
}
