package filtered

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// entry is one readable record of a history, reduced to what the projection needs. The references
// of a record are many times larger than the positions they resolve to, so they are not kept.
type entry struct {
	source  *session.Event
	meta    *record.Metadata // Covered is nil
	covered []int32          // positions in the history, ascending as stored
	loose   []record.Ref     // references that name no event, or more than one
	placed  []record.Ref     // references that resolved by place, on a backend that renames IDs
	after   int32            // position of meta.After, -1 if it does not resolve
	summary *session.Event   // made when first shown

	// Set by settle.
	absorbs []*entry
	group   int // strongly connected component: equal groups absorb each other in a circle
	live    bool
}

// newEntry resolves the references of m. A record covers events of its own branch only: a reference
// to any other event stays loose and hides nothing.
func newEntry(source *session.Event, m *record.Metadata, events []*session.Event, index *record.Index) *entry {
	e := &entry{source: source, meta: m, after: -1}
	for _, ref := range m.Covered {
		i, ok := index.Find(ref)
		if !ok || events[i].Branch != m.Branch {
			e.loose = append(e.loose, ref)
			continue
		}
		e.covered = append(e.covered, int32(i))
		if events[i].ID != ref.ID {
			e.placed = append(e.placed, ref)
		}
	}
	if m.Live() {
		if i, ok := index.Find(m.After); ok {
			e.after = int32(i)
		}
	}
	light := *m
	light.Covered = nil
	e.meta = &light
	return e
}

func (e *entry) event() *session.Event {
	if e.summary == nil {
		e.summary = summaryEvent(e.meta)
	}
	return e.summary
}

// settle decides which entries are live. A record is live unless another of its branch absorbs it,
// or a later one stands for all that it stands for. Records that absorb each other in a circle do
// not end each other's life.
func settle(entries []*entry) {
	byID := make(map[string]*entry, len(entries))
	for _, e := range entries {
		byID[e.meta.RecordID] = e
	}
	for _, e := range entries {
		e.absorbs, e.group, e.live = e.absorbs[:0], 0, true
		for _, id := range e.meta.Absorbed {
			if child := byID[id]; child != nil && child != e && child.meta.Branch == e.meta.Branch {
				e.absorbs = append(e.absorbs, child)
			}
		}
	}
	findCircles(entries)
	for _, e := range entries {
		for _, child := range e.absorbs {
			if child.group != e.group {
				child.live = false
			}
		}
	}
	retireRepeated(entries)
}

// retireRepeated ends the life of records whose events a later record stands for as well. Two
// processes that compact one session at once write such records; otherwise no event is covered twice
// and nothing is compared.
func retireRepeated(entries []*entry) {
	if !anyRepeated(entries) {
		return
	}
	coverers := map[point][]*entry{}
	for _, e := range entries {
		for _, p := range e.points() {
			coverers[p] = append(coverers[p], e)
		}
	}
	parents := map[*entry][]*entry{}
	for _, e := range entries {
		for _, child := range e.absorbs {
			parents[child] = append(parents[child], e)
		}
	}
	sets := map[*entry]map[point]bool{}
	set := func(e *entry) map[point]bool {
		if sets[e] == nil {
			sets[e] = e.standsFor()
		}
		return sets[e]
	}
	for _, e := range entries {
		if !e.live || len(set(e)) == 0 {
			continue
		}
		var some point
		for some = range set(e) {
			break
		}
		for candidate := range ancestors(coverers[some], parents) {
			if candidate != e && candidate.meta.Later(e.meta) && contains(set(candidate), set(e)) {
				e.live = false
				break
			}
		}
	}
}

// anyRepeated reports whether two records cover one event directly.
func anyRepeated(entries []*entry) bool {
	var positions bitset
	loose := map[point]bool{}
	for _, e := range entries {
		for _, i := range e.covered {
			if positions.has(int(i)) {
				return true
			}
			positions.add(int(i))
		}
		for _, ref := range e.loose {
			if p := loosePoint(ref); loose[p] {
				return true
			} else {
				loose[p] = true
			}
		}
	}
	return false
}

// point is one covered event: by position where the reference resolves, else by the reference, so
// that records compare alike whether the events they hid were loaded or not.
type point struct {
	position int32
	loose    string
}

func (e *entry) points() []point {
	out := make([]point, 0, len(e.covered)+len(e.loose))
	for _, i := range e.covered {
		out = append(out, point{position: i})
	}
	for _, ref := range e.loose {
		out = append(out, loosePoint(ref))
	}
	return out
}

func loosePoint(ref record.Ref) point {
	if ref.ID != "" {
		return point{position: -1, loose: ref.ID}
	}
	return point{position: -1, loose: ref.InvocationID + "\x00" + ref.Author + "\x00" + ref.Timestamp.UTC().String()}
}

// standsFor returns all that e stands for: its own events and those of what it absorbs.
func (e *entry) standsFor() map[point]bool {
	out := map[point]bool{}
	e.each(map[*entry]bool{}, func(d *entry) {
		for _, p := range d.points() {
			out[p] = true
		}
	})
	return out
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

func ancestors(of []*entry, parents map[*entry][]*entry) map[*entry]bool {
	out := map[*entry]bool{}
	stack := append([]*entry(nil), of...)
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !out[top] {
			out[top] = true
			stack = append(stack, parents[top]...)
		}
	}
	return out
}

func contains(whole, part map[point]bool) bool {
	if len(whole) < len(part) {
		return false
	}
	for p := range part {
		if !whole[p] {
			return false
		}
	}
	return true
}
