package view

import (
	"maps"
	"slices"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// View is the view of a session that is being appended to. Its snapshots are immutable, cost nothing
// while nothing is new, and always equal [Project] of the events so far.
//
// It is safe for concurrent use.
type View struct {
	mu       sync.Mutex
	p        *projection
	snapshot *Snapshot
	// generation counts how often the view was made anew instead of only growing.
	generation int
}

// New returns the view of a history given in the order of the backend. The slice belongs to the
// view from then on; see [Collect].
func New(events []*session.Event) *View { return &View{p: project(events, nil, nil)} }

// NewPartial is [New] for a history in which events that the view hides may be missing, and
// records that are not live; of the events no two have one ID. References are resolved by ID only.
func NewPartial(events []*session.Event, unloaded Unloaded) *View {
	return &View{p: project(events, nil, unloaded.gapsIn(events))}
}

// Unloaded is what a partial view must know of the events that are missing. The functions get events
// that are there, and may be nil.
type Unloaded struct {
	// Covered reports whether a record, missing or not, stands for an event; nil for none beyond what the
	// records at hand say.
	Covered func(*session.Event) bool
	// Overtaken reports whether a missing message of the user, of another invocation than the event, stands
	// behind an event with calls, and agents in the branch of the event see it; nil for none. It need not be
	// known where such a message is among the events.
	Overtaken func(*session.Event) bool
}

func (u Unloaded) gapsIn(events []*session.Event) *gaps {
	g := &gaps{overtaken: u.Overtaken}
	for _, ev := range events {
		g.covered = append(g.covered, u.Covered != nil && ev != nil && u.Covered(ev))
	}
	return g
}

// Partial reports whether the view was made by [NewPartial].
func (v *View) Partial() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.gaps != nil
}

// Replace gives a partial view another history, see [NewPartial]. The function gets the events of the
// view, which it must not change.
func (v *View) Replace(by func(raw []*session.Event) ([]*session.Event, Unloaded)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	events, unloaded := by(v.p.raw)
	v.p = project(events, v.p, unloaded.gapsIn(events))
	v.snapshot = nil
	v.generation++
}

// Fork returns a view of the same history that grows apart from this one.
func (v *View) Fork() *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	return &View{p: v.p.fork(slices.Clip(v.p.raw)), generation: v.generation}
}

// Len returns the number of stored events that the view is made from.
func (v *View) Len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.p.raw)
}

// Continue returns a new view of the given events if they begin with the stored events of v, and nil
// otherwise. It does not change v, and it costs a copy of the list, not a projection.
func (v *View) Continue(events session.Events) *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := len(v.p.raw)
	if n == 0 || events == nil || events.Len() < n {
		return nil
	}
	raw := make([]*session.Event, 0, events.Len()+room)
	for ev := range events.All() {
		if len(raw) < n && ev != v.p.raw[len(raw)] {
			return nil // another session, or a decorator that shows something else now
		}
		raw = append(raw, ev)
	}
	if len(raw) < n {
		return nil
	}
	more := raw[n:]
	next := &View{p: v.p.fork(raw[:n])}
	for _, ev := range more {
		next.append(ev) // which puts it where it is
	}
	return next
}

// room is how many events a continued view can be given before its list is copied: those of a turn.
const room = 64

// fork returns a copy of p that grows apart from it, over a list of the same events.
func (p *projection) fork(raw []*session.Event) *projection {
	next := *p
	next.raw, next.view, next.open = raw, slices.Clip(p.view), maps.Clone(p.open)
	next.working = workingSet{slices.Clip(p.working.events), slices.Clip(p.working.at), p.working.covered}
	if next.working.at == nil {
		next.working.events = raw
	}
	if p.identity {
		next.view = raw
	}
	return &next
}

// Append adds one event that was stored after the others. A record that is in the view already, by
// its record ID, is not added again.
func (v *View) Append(ev *session.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.append(ev)
}

func (v *View) append(ev *session.Event) {
	before := v.p
	if v.p = before.append(ev); v.p != before && !slices.Equal(before.view, v.p.view[:min(len(v.p.view), len(before.view))]) {
		v.generation++
	}
	v.snapshot = nil
}

// AppendRecord adds a record that another view's session stored, unless it is in this view already.
func (v *View) AppendRecord(ev *session.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	m, err := record.From(ev)
	if err != nil || m == nil {
		return
	}
	if v.p.record(m.RecordID) == nil {
		v.append(ev)
	}
}

// Events returns the view as it is now.
func (v *View) Events() *Snapshot {
	events, _ := v.Version()
	return events
}

// Version returns the view as it is now and its generation: while that stays the same, the view has
// only grown at its end.
func (v *View) Version() (*Snapshot, int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.snapshot == nil {
		v.snapshot = &Snapshot{view: v.p.view}
	}
	return v.snapshot, v.generation
}

// Current returns the records whose summaries the view shows, in no particular order and without their
// Covered references. They must not be changed.
func (v *View) Current() []*record.Metadata {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []*record.Metadata
	for _, s := range v.p.current {
		out = append(out, s.meta)
	}
	return out
}

// Record returns the event that stores the record of an ID, nil if there is none that can be read.
func (v *View) Record(id string) *session.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.record(id)
}

// record returns the event that stores the record of an ID, nil if there is none.
func (p *projection) record(id string) *session.Event {
	if !p.watched.has(hashID(id)) {
		return nil
	}
	for _, ev := range slices.Backward(p.raw) {
		if record.Is(ev) {
			if m, err := record.From(ev); err == nil && m.RecordID == id {
				return ev
			}
		}
	}
	return nil
}

// Find returns the positions in [View.Raw] of the events that references name, -1 for one that names
// none, or more than one.
func (v *View) Find(refs []record.Ref) []int {
	v.mu.Lock()
	defer v.mu.Unlock()
	find := v.p.finder(refs)
	out := make([]int, len(refs))
	for k, ref := range refs {
		i, ok := find(ref)
		if !ok {
			i = -1
		}
		out[k] = i
	}
	return out
}

// Raw returns all events of the view's session, records among them, in the order of the backend.
// The slice must not be changed.
func (v *View) Raw() []*session.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.raw[:len(v.p.raw):len(v.p.raw)]
}
