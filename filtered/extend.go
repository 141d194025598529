package filtered

import (
	"hash/maphash"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/calls"
	"github.com/adk-go-ext/longsession/record"
)

// extend adds one event that was stored after all others and returns the projection of the longer
// history. Nearly always that is p itself with a longer view: slices handed out before end in front
// of the new element and do not see it. Only an event that changes what stands before it makes a new
// projection, and that costs what is visible, not what is stored.
func (p *projection) extend(ev *session.Event) *projection {
	switch {
	case p.claimed(ev):
		// A reference that resolved may be ambiguous now, or the other way round: resolve all again.
		return project(append(p.raw, ev), p)
	case record.Is(ev), p.supersedes(ev), p.disturbs(ev):
		return p.next(ev)
	}
	p.raw = append(p.raw, ev)
	p.noteCalls(len(p.raw) - 1)
	p.note(ev)
	switch {
	case p.plain && ev != nil:
		p.view = p.raw
	case ev != nil:
		p.view = append(p.view, ev)
	case p.plain:
		p.plain = false
		p.view = slices.Clone(p.view)
	}
	return p
}

// next makes the projection of the history that ev lengthens. What p found out about the records
// before holds: their entries are taken over.
func (p *projection) next(ev *session.Event) *projection {
	next := &projection{
		raw:        append(p.raw, ev),
		unreadable: p.unreadable,
		entries:    make([]*entry, len(p.entries), len(p.entries)+1),
	}
	for i, e := range p.entries {
		next.entries[i] = e.fork()
	}
	if e := next.read(ev, p.finder()); e != nil && p.entry(e.meta.RecordID) == nil {
		next.entries = append(next.entries, e)
	}
	next.ids = p.ids
	next.note(ev)
	next.complete(p)
	return next
}

// note keeps ids up to date.
func (p *projection) note(ev *session.Event) {
	if p.ids != nil {
		p.ids.add(ev)
	}
}

// finder finds the events that a new record covers. They were visible when its window was chosen, so
// it looks there first; where that settles nothing, the whole history is indexed.
func (p *projection) finder() finder {
	var visible map[string]int
	var index *record.Index
	return func(ref record.Ref) (int, bool) {
		if visible == nil {
			visible = map[string]int{}
			for i := range p.hidden.others(len(p.raw)) {
				if identified(p.raw[i]) {
					visible[record.Text(p.raw[i].ID)] = i
				}
			}
		}
		if i, found := visible[ref.ID]; found && p.known().count(ref.ID) == 1 {
			return i, true
		}
		if index == nil {
			index = record.NewIndex(p.raw)
		}
		return index.Find(ref)
	}
}

// known returns the IDs of the history.
func (p *projection) known() *idSet {
	if p.ids == nil {
		p.ids = newIDSet(p.raw)
	}
	return p.ids
}

// noteCalls keeps pending up to date with the events from a position on.
func (p *projection) noteCalls(from int) {
	for i, ev := range p.raw[from:] {
		for _, response := range calls.ResponsesIn(ev) {
			delete(p.pending, calls.Name{Branch: ev.Branch, ID: response.ID})
		}
		for _, call := range calls.In(ev) {
			p.pending[calls.Name{Branch: ev.Branch, ID: call.ID}] = int32(from + i)
		}
	}
}

// supersedes reports whether a new event takes the place of one that is shown only because it was
// the newest of its kind, or opens an invocation whose summary had nothing to stand behind.
func (p *projection) supersedes(ev *session.Event) bool {
	switch {
	case opens(ev):
		at, waited := p.openings[ev.InvocationID]
		return p.keepsUser || waited && at < 0
	case speaksAsAgent(ev):
		return p.keepsAgent
	}
	return false
}

// disturbs reports whether the calls and responses of a new event change what stands before it:
// a response brings a hidden call back, or moves one of an earlier invocation; a call claims a
// response that had none.
func (p *projection) disturbs(ev *session.Event) bool {
	for _, response := range calls.ResponsesIn(ev) {
		if p.tangled[response.ID] || !p.followsItsCall(ev, response.ID) {
			return true
		}
	}
	for _, call := range calls.In(ev) {
		if p.orphans[call.ID] {
			return true
		}
	}
	return false
}

// followsItsCall reports whether a response to the call of that ID needs no more than being shown at
// the end: the nearest call of the ID in its branch is visible and of the same invocation.
func (p *projection) followsItsCall(ev *session.Event, id string) bool {
	follows := func(i int) bool { return !p.hidden.has(i) && p.raw[i].InvocationID == ev.InvocationID }
	if i, ok := p.pending[calls.Name{Branch: ev.Branch, ID: id}]; ok {
		return follows(int(i))
	}
	for i := len(p.raw) - 1; i >= 0; i-- { // a second response, or one to nothing
		for _, call := range calls.In(p.raw[i]) {
			if call.ID == id && p.raw[i].Branch == ev.Branch {
				return follows(i)
			}
		}
	}
	return false
}

// claimed reports whether a reference of some record names the new event, or might.
func (p *projection) claimed(ev *session.Event) bool {
	if ev == nil || len(p.entries) == 0 || record.Is(ev) {
		return false
	}
	if id := record.Text(ev.ID); id != "" && (p.isClaim(idKey(id)) || p.known().count(id) > 0 && p.covers(id)) {
		return true
	}
	return len(p.claims) > 0 && p.isClaim(placeKey(record.PlaceOf(ev)))
}

func (p *projection) isClaim(key uint32) bool {
	_, found := slices.BinarySearch(p.claims, key)
	return found
}

// covers reports whether a record covers an event of that ID.
func (p *projection) covers(id string) bool {
	for _, e := range p.entries {
		for i := range e.covered.all() {
			if record.Text(p.raw[i].ID) == id {
				return true
			}
		}
	}
	return false
}

// claims returns the sorted hashes of the keys by which references were resolved or might yet be,
// except the IDs of covered events. A collision costs one projection, nothing else.
func claims(entries []*entry) []uint32 {
	var keys []uint32
	both := func(ref record.Ref) { keys = append(keys, idKey(ref.ID), placeKey(ref.Place())) }
	for _, e := range entries {
		for _, ref := range e.placed {
			both(ref)
		}
		for _, ref := range e.loose {
			both(ref)
		}
		if e.meta.Live() {
			both(e.meta.After)
		}
	}
	slices.Sort(keys)
	return keys
}

func placeKey(place record.Place) uint32 { return uint32(maphash.Comparable(seed, place)) }
