package view

import (
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
	for i, ev := range events {
		if u.Covered != nil && ev != nil && u.Covered(ev) {
			g.covered.add(i)
		}
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
	if len(v.p.live) > 0 {
		v.p.known() // once for both
	}
	p := *v.p
	p.raw, p.view = slices.Clip(p.raw), slices.Clip(p.view)
	p.detach(v.p)
	if p.plain {
		p.view = p.raw
	}
	return &View{p: &p, generation: v.generation}
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
	if v.p = v.p.extend(ev); v.p != before {
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
	if v.p.records.count(m.RecordID) == 0 || v.p.record(m.RecordID) == nil {
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

// Live returns the records whose summaries the view shows, in no particular order and without their
// Covered references. They must not be changed.
func (v *View) Live() []*record.Metadata {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []*record.Metadata
	for _, s := range v.p.live {
		out = append(out, s.meta)
	}
	return out
}

// Record returns the event that stores the record of an ID, nil if there is none that can be read.
func (v *View) Record(id string) *session.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.p.records.count(id) == 0 {
		return nil
	}
	return v.p.record(id)
}

// record returns the event that stores the record of an ID, nil if there is none.
func (p *projection) record(id string) *session.Event {
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
	find := v.p.finder()
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

// State is one moment of a view, for those who decide what to summarize next.
type State struct {
	// View is what [View.Events] shows. The slice must not be changed.
	View []*session.Event
	// Live are the records whose summaries the view shows, in the order of the view, without their
	// Covered references. They must not be changed.
	Live []*record.Metadata
	// Unreadable counts records that cannot be read; they hide nothing.
	Unreadable int
	// Stored counts all events of the session, records among them.
	Stored int

	summaries map[*session.Event]*record.Metadata
	shown     map[*session.Event]bool
	covered   bitset
	standIns  map[*session.Event]bool
}

// Summary returns the record whose summary ev is, nil for any other event.
func (s *State) Summary(ev *session.Event) *record.Metadata { return s.summaries[ev] }

// IsStored reports whether an event of the view is stored: neither a summary nor a stand-in, see
// [IsStandIn].
func (s *State) IsStored(ev *session.Event) bool { return s.summaries[ev] == nil && !s.standIns[ev] }

// Covered reports whether a live record stands for ev although it is shown: for the sake of its call
// or response, of a summary that stands behind it, or as the newest of its kind.
func (s *State) Covered(ev *session.Event) bool { return s.shown[ev] }

// CoveredAt reports whether a live record stands for the event at position i of the history.
func (s *State) CoveredAt(i int) bool { return s.covered.has(i) }

// State returns the view and what it is made of, as it is now.
func (v *View) State() *State {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.state()
}

// Inspect returns the state of a whole history: [Project] with what it is made of.
func Inspect(events []*session.Event) *State { return project(events, nil, nil).state() }

func (p *projection) state() *State {
	s := &State{
		View:       p.view[:len(p.view):len(p.view)],
		Unreadable: p.unreadable,
		Stored:     len(p.raw),
		summaries:  map[*session.Event]*record.Metadata{},
		shown:      map[*session.Event]bool{},
		covered:    p.covered,
		standIns:   make(map[*session.Event]bool, len(p.standIns)),
	}
	byEvent := map[*session.Event]*record.Metadata{}
	for _, live := range p.live {
		byEvent[live.shown] = live.meta
	}
	for _, ev := range p.view {
		if m := byEvent[ev]; m != nil {
			s.Live = append(s.Live, m)
			s.summaries[ev] = m
		}
	}
	for i := range p.covered.minus(p.hidden) {
		s.shown[p.raw[i]] = true
	}
	for _, made := range p.standIns {
		s.standIns[made.shown] = true
	}
	return s
}
