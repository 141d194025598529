package filtered

import (
	"iter"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/view"
)

var _ session.Events = (*FilteredEvents)(nil)

// FilteredEvents is the view of a session at one moment, as [FilteredSession.Events] returns it. It
// never changes and is safe for concurrent use.
type FilteredEvents view.Snapshot

// NewFilteredEvents returns the view of the given events at the time of the call. A nil list has an
// empty view.
func NewFilteredEvents(inner session.Events) *FilteredEvents {
	return (*FilteredEvents)(view.NewSnapshot(Project(view.Collect(inner))))
}

// All yields the events in the order of the view.
func (e *FilteredEvents) All() iter.Seq[*session.Event] { return (*view.Snapshot)(e).All() }

// Len returns the number of events in the view.
func (e *FilteredEvents) Len() int { return (*view.Snapshot)(e).Len() }

// At returns the event at index i of the view, nil if there is none.
func (e *FilteredEvents) At(i int) *session.Event { return (*view.Snapshot)(e).At(i) }

// Project returns the view of a whole history, given in the order in which the backend returns it.
//
// Project is pure and accepts any input. The result holds the given events themselves, not copies,
// plus two kinds of new events: summaries, and stand-ins. A stand-in is an error response directly after a
// call that was interrupted, because model providers refuse a prompt in which a call has no response. Neither
// is stored, and neither may be appended to a session. Project leaves out nil events and all records. A record
// that cannot be read hides nothing. If no event has to be hidden, added or moved, the result is the input
// slice itself, so callers must not change its elements.
func Project(events []*session.Event) []*session.Event { return view.Project(events) }
