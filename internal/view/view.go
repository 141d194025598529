package view

import (
	"slices"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// View is the view of a session that grows. It always equals the result of [Project] for the events
// so far, but the cost of an append depends on the visible events at most, and is usually far less.
// Its snapshots are immutable, and free while there are no new events.
//
// A View is safe for concurrent use.
type View struct {
	mu       sync.Mutex
	p        *projection
	shown    display   // of p
	snapshot *Snapshot // of the present view, nil until it is asked for
	// generation counts the appends that did more than add to the end of the view, see grownBy.
	generation int
}

// New returns the view of a history, given in the order in which the backend returns it. The caller
// gives the slice away; see [Collect].
func New(events []*session.Event) *View { return Options{}.New(events) }

// New is the function of that name, with options.
func (o Options) New(events []*session.Event) *View { return &View{p: project(events, nil, nil, o)} }

// Append adds an event that was stored after all others. A record whose ID is in the view already
// does not change what the view shows.
func (v *View) Append(ev *session.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.append(ev)
}

func (v *View) append(ev *session.Event) {
	if record.Is(ev) {
		if next := v.p.withRecord(ev); next != nil {
			v.p, v.snapshot = next, nil
			return
		}
	}
	v.settle()
	before := v.p
	v.p = before.append(ev)
	v.snapshot = nil
	grown := v.p == before || grownBy(ev, before.view, v.p.view)
	if !grown {
		v.generation++
	}
	v.shown.update(v.p, grown)
}

// settle brings the view up to date with the records that were added since it was last read. Laying a view out costs as
// much as it has events, so many records in a row cost that once.
func (v *View) settle() {
	if !v.p.unsettled {
		return
	}
	next := v.p.withOwnSummaries() // a fork may share them
	next.unsettled = false
	next.complete(v.p.standIns)
	v.p, v.snapshot = next, nil
	v.generation++
	v.shown.update(next, false)
}

// grownBy reports whether now is the view before with nothing at its end but a new event. An older event
// there changes the view: it had been hidden or shown elsewhere. So does a stand-in, which answers an
// older event.
func grownBy(ev *session.Event, before, now []*session.Event) bool {
	n := len(before)
	return len(now) >= n && slices.Equal(before, now[:n]) &&
		!slices.ContainsFunc(now[n:], func(shown *session.Event) bool { return shown != ev })
}

// AppendRecord adds a record that the service stored through another handle of the session. It does
// nothing if the view has a record of that ID, or if the event is no readable record.
func (v *View) AppendRecord(ev *session.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if m, err := record.From(ev); err == nil && m != nil && v.p.record(m.RecordID) == nil {
		v.append(ev)
	}
}

// Events returns the view as it is now.
func (v *View) Events() *Snapshot {
	events, _ := v.Version()
	return events
}

// Version returns the view as it is now, and its generation. Between two calls that return the same
// generation, the view has only grown at its end, by events that were appended in between.
func (v *View) Version() (*Snapshot, int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.snapshot == nil {
		v.settle()
		v.snapshot = &Snapshot{v.shown.of(v.p), v.p.metas()}
	}
	return v.snapshot, v.generation
}

// Raw returns all stored events of the session, records among them, in the order of the backend. The
// caller must not change the slice.
func (v *View) Raw() []*session.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.raw[:len(v.p.raw):len(v.p.raw)]
}

// Len returns the number of stored events, records among them.
func (v *View) Len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.p.raw)
}

// Current returns the records whose summaries the view shows, in no particular order and without
// their Covered references. The caller must not change them.
func (v *View) Current() []*record.Metadata {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.metas()
}

// metas returns the records of the summaries that are shown, nil if there are none.
func (p *projection) metas() []*record.Metadata {
	var out []*record.Metadata
	for _, s := range p.current {
		out = append(out, s.meta)
	}
	return out
}

// Record returns the event that stores the readable record of the given ID, or nil.
func (v *View) Record(id string) *session.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.record(id)
}

func (p *projection) record(id string) *session.Event {
	if p.watchRecords(); !p.ids.has(hashID(id)) {
		return nil
	}
	for _, ev := range slices.Backward(p.raw) {
		if m, err := record.From(ev); err == nil && m != nil && m.RecordID == id {
			return ev
		}
	}
	return nil
}

// Shows reports whether the view has the summary of a record. Unlike [View.State], it lays nothing out.
func (v *View) Shows(recordID string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.p.current, func(s *summary) bool { return s.meta.RecordID == recordID })
}

// CoveredAt reports for each of some positions in [View.Raw] whether a current record covers its event; false for -1.
// Unlike [View.State], it lays nothing out.
func (v *View) CoveredAt(positions []int) []bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([]bool, len(positions))
	for k, i := range positions {
		if i < 0 {
			continue
		}
		if visible := v.p.working.index(i); visible >= 0 {
			out[k] = v.p.working.isCovered(visible)
		} else {
			out[k] = !invisible(v.p.raw[i])
		}
	}
	return out
}

// Find returns the positions in [View.Raw] of the events that the references name, in the same order:
// -1 for a reference that names no event or more than one.
func (v *View) Find(refs []record.Ref) []int {
	v.mu.Lock()
	defer v.mu.Unlock()
	find := v.p.finder(true)
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
