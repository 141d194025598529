package view

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// entry is one readable record of a history, reduced to what the projection needs. The references
// of a record are many times larger than the positions they resolve to, so they are not kept.
type entry struct {
	source  *session.Event
	meta    *record.Metadata // Covered is nil
	covered spans            // positions in the history, in the order of the references
	loose   []record.Ref     // references that name no event, or more than one
	placed  []record.Ref     // references that resolved by place, on a backend that renames IDs
	after   int32            // position of meta.After, -1 if it does not resolve

	// Set by settle.
	absorbs []*entry
	missing []string // absorbed records that this history does not hold
	group   int      // strongly connected component: equal groups absorb each other in a circle
	live    bool
}

// newEntry resolves the references of m. A record covers events of its own branch only, and the
// summary of tool rounds only those of its agent: a reference to any other event stays loose and
// hides nothing.
func newEntry(source *session.Event, m *record.Metadata, events []*session.Event, find finder) *entry {
	e := &entry{source: source, meta: m, after: -1}
	for _, ref := range m.Covered {
		i, ok := find(ref)
		if !ok || record.Normalize(events[i].Branch) != m.Branch || m.MidTurn() && record.Normalize(events[i].Author) != m.Agent {
			e.loose = append(e.loose, ref)
			continue
		}
		e.covered.add(int32(i))
		if ref.ID == "" || record.Normalize(events[i].ID) != ref.ID {
			e.placed = append(e.placed, ref)
		}
	}
	if m.MidTurn() {
		if i, ok := find(m.After); ok {
			e.after = int32(i)
		}
	}
	light := *m
	light.Covered = nil
	e.meta = &light
	return e
}

// claims returns the hashes of the keys by which references of e were resolved or might yet be, except
// the IDs of covered events. A collision costs one projection, nothing else.
func (e *entry) claims() []uint32 {
	var keys []uint32
	add := func(refs ...record.Ref) {
		for _, ref := range refs {
			keys = append(keys, idKey(ref.ID), placeKey(ref.AltKey()))
		}
	}
	add(e.placed...)
	add(e.loose...)
	if e.meta.MidTurn() {
		add(e.meta.After)
	}
	return keys
}

// point is one thing that a record stands for: an event, by position where the reference resolves,
// else by the reference, or an absorbed record that is not there. So records compare alike whether
// what they hide was loaded or not.
type point struct {
	position int32
	loose    string
}

// Positions of points that have none.
const (
	unresolved int32 = -1 - iota
	unloaded
)

func (e *entry) points() []point {
	out := make([]point, 0, e.covered.len())
	for i := range e.covered.all() {
		out = append(out, point{position: i})
	}
	return append(out, e.unplaced()...)
}

// unplaced returns the points that have no position.
func (e *entry) unplaced() []point {
	var out []point
	for _, ref := range e.loose {
		out = append(out, loosePoint(ref))
	}
	for _, id := range e.missing {
		out = append(out, point{unloaded, id})
	}
	return out
}

func loosePoint(ref record.Ref) point {
	if ref.ID != "" {
		return point{unresolved, ref.ID}
	}
	return point{unresolved, ref.InvocationID + "\x00" + ref.Author + "\x00" + ref.Timestamp.UTC().String()}
}

// each calls f for e and all that it absorbs, transitively, once each.
func (e *entry) each(seen map[*entry]bool, f func(*entry)) {
	stack := []*entry{e}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[top] {
			continue
		}
		seen[top] = true
		f(top)
		stack = append(stack, top.absorbs...)
	}
}
