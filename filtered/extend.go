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
// of the new element and do not see it. Only an event that changes what stands before it makes p
// project again.
func (p *projection) extend(ev *session.Event) *projection {
	switch {
	case p.claimed(ev):
		// A reference that resolved may be ambiguous now, or the other way round: resolve all again.
		return projectAnew(append(p.raw, ev), p.entries)
	case record.Is(ev), p.supersedes(ev), p.disturbs(ev):
		return project(append(p.raw, ev), p.entries)
	}
	p.raw = append(p.raw, ev)
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
		if p.orphans == nil {
			p.orphans = findOrphans(p.raw)
		}
		if p.orphans[call.ID] {
			return true
		}
	}
	return false
}

// followsItsCall reports whether a response to the call of that ID needs no more than being shown at
// the end: the nearest call of the ID in its branch is visible and of the same invocation.
func (p *projection) followsItsCall(ev *session.Event, id string) bool {
	for i := len(p.raw) - 1; i >= 0; i-- {
		for _, call := range calls.In(p.raw[i]) {
			if call.ID == id && p.raw[i].Branch == ev.Branch {
				return !p.hidden.has(i) && p.raw[i].InvocationID == ev.InvocationID
			}
		}
	}
	return false
}

// findOrphans returns the IDs of responses that no call of the history precedes.
func findOrphans(raw []*session.Event) map[string]bool {
	called, orphans := map[string]bool{}, map[string]bool{}
	for _, ev := range raw {
		for _, response := range calls.ResponsesIn(ev) {
			if !called[response.ID] {
				orphans[response.ID] = true
			}
		}
		for _, call := range calls.In(ev) {
			called[call.ID] = true
		}
	}
	return orphans
}

// claimed reports whether a reference of some record may name the new event.
func (p *projection) claimed(ev *session.Event) bool {
	if ev == nil || len(p.entries) == 0 {
		return false
	}
	if p.keys == nil {
		p.keys = p.referenceKeys()
	}
	if ev.ID != "" {
		if _, found := slices.BinarySearch(p.keys, idKey(ev.ID)); found {
			return true
		}
	}
	_, found := slices.BinarySearch(p.keys, placeKey(record.PlaceOf(ev)))
	return found
}

// referenceKeys returns the sorted hashes of every key by which a reference was resolved or might
// yet be. A collision costs one projection, nothing else.
func (p *projection) referenceKeys() []uint32 {
	keys := []uint32{}
	both := func(ref record.Ref) { keys = append(keys, idKey(ref.ID), placeKey(ref.Place())) }
	for _, e := range p.entries {
		for _, i := range e.covered {
			keys = append(keys, idKey(p.raw[i].ID))
		}
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

var seed = maphash.MakeSeed()

func idKey(id string) uint32 { return uint32(maphash.String(seed, id)) }

func placeKey(place record.Place) uint32 { return uint32(maphash.Comparable(seed, place)) }
