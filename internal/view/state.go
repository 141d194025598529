package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// State is a view at one moment with the data behind it, for code that decides what to summarize
// next.
type State struct {
	// View is what [View.Events] shows, with every stored event as it is stored: code that selects
	// and covers events recognizes them by pointer. [State.Shown] returns the form that is shown. The
	// slice must not be changed.
	View []*session.Event
	// Current are the records whose summaries the view shows, in the order of the view, without their
	// Covered references. They must not be changed.
	Current []*record.Metadata
	// Unreadable is the number of records that cannot be decoded, those of other implementations and of ADK's own
	// compaction among them. They hide nothing.
	Unreadable int
	// Stored is the number of all events of the session, including records.
	Stored int

	summaries map[*session.Event]*record.Metadata
	standIns  map[*session.Event]bool
	covered   map[*session.Event]bool // visible events
	raw       []*session.Event
	working   workingSet
	forms     map[*session.Event]*session.Event // of the events that are not shown as they are stored
}

// Summary returns the record that ev is the summary of, nil for any other event.
func (s *State) Summary(ev *session.Event) *record.Metadata { return s.summaries[ev] }

// IsStored reports whether an event of the view is stored: neither a summary nor a stand-in, see
// [IsStandIn].
func (s *State) IsStored(ev *session.Event) bool { return s.summaries[ev] == nil && !s.standIns[ev] }

// Covered reports whether a current record covers ev although the view shows it: because its call
// or response is visible, because a mid-turn summary is shown behind it, because it is the
// newest of its kind, or because the user goes on with its run.
func (s *State) Covered(ev *session.Event) bool { return s.covered[ev] }

// Shown returns the form in which the view shows an event of it: ev itself unless the view's [Cut]
// made its responses shorter. Sizes are those of this form.
func (s *State) Shown(ev *session.Event) *session.Event {
	if form := s.forms[ev]; form != nil {
		return form
	}
	return ev
}

// CoveredAt reports whether a current record covers the event at position i of the history.
func (s *State) CoveredAt(i int) bool {
	if visible := s.working.index(i); visible >= 0 {
		return s.working.isCovered(visible)
	}
	return !invisible(s.raw[i])
}

// With returns the state as it will be once a record is stored, as far as Current and Stored go: the records whose
// summaries are shown, and the number of all events. It must not be a mid-turn record, and none may be shown.
func (s *State) With(m *record.Metadata) *State {
	next, light := *s, *m
	light.Covered = nil
	next.Current = slices.DeleteFunc(slices.Clone(s.Current), func(shown *record.Metadata) bool {
		return shown.Branch == m.Branch && slices.Contains(m.Absorbed, shown.RecordID)
	})
	next.Current = append(next.Current, &light)
	slices.SortStableFunc(next.Current, startFirst)
	next.Stored++
	return &next
}

// State returns the current view and the data behind it.
func (v *View) State() *State {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.settle()
	s := v.p.state()
	s.forms = v.shown.changed()
	return s
}

// Inspect returns the state of a whole history: the result of [Project] with the data behind it.
func Inspect(events []*session.Event) *State { return project(events, nil, nil, Options{}).state() }

func (p *projection) state() *State {
	s := &State{
		View:       p.view[:len(p.view):len(p.view)],
		Unreadable: p.unreadable,
		Stored:     len(p.raw),
		summaries:  map[*session.Event]*record.Metadata{},
		standIns:   p.madeStandIns(),
		covered:    map[*session.Event]bool{},
		raw:        p.raw,
		working:    p.working,
	}
	shown := map[*session.Event]*record.Metadata{}
	for _, current := range p.current {
		shown[current.shown] = current.meta
	}
	for _, ev := range p.view {
		if m := shown[ev]; m != nil {
			s.Current = append(s.Current, m)
			s.summaries[ev] = m
		}
	}
	for i, is := range p.working.covered {
		if is {
			s.covered[p.working.events[i]] = true
		}
	}
	return s
}
