package filtered

import (
	"iter"

	"google.golang.org/adk/session"
)

var _ session.Events = (*FilteredEvents)(nil)

// FilteredEvents is one immutable snapshot of a view. It is safe for concurrent use.
type FilteredEvents struct {
	view []*session.Event
}

// NewFilteredEvents returns the view of a list of events as it is now.
func NewFilteredEvents(inner session.Events) *FilteredEvents {
	return &FilteredEvents{view: Project(Collect(inner))}
}

// Snapshot returns a list of events that is shown as it is. The slice must not be changed afterwards.
func Snapshot(events []*session.Event) *FilteredEvents { return &FilteredEvents{view: events} }

// All yields the events of the view in order.
func (e *FilteredEvents) All() iter.Seq[*session.Event] {
	return func(yield func(*session.Event) bool) {
		for _, ev := range e.view {
			if !yield(ev) {
				return
			}
		}
	}
}

// Len returns the number of events in the view.
func (e *FilteredEvents) Len() int { return len(e.view) }

// At returns the event at index i of the view, nil outside of it.
func (e *FilteredEvents) At(i int) *session.Event {
	if i < 0 || i >= len(e.view) {
		return nil
	}
	return e.view[i]
}

// Slice returns the events of the view. It must not be changed.
func (e *FilteredEvents) Slice() []*session.Event { return e.view[:len(e.view):len(e.view)] }

// From returns the part of the view from index i on; all of it for i <= 0.
func (e *FilteredEvents) From(i int) *FilteredEvents {
	if i <= 0 {
		return e
	}
	return &FilteredEvents{view: e.view[min(i, len(e.view)):]}
}

// Collect copies a list of events into a new slice; a nil list is empty.
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
