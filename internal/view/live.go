package view

import (
	"cmp"
	"slices"

	"github.com/adk-go-ext/longsession/record"
)

// settle decides which entries are live. A record is live unless another of its branch absorbs it,
// or a later one stands for all that it stands for. Records that absorb each other in a circle do
// not end each other's life. It reports whether the records are tidy, see [projection].
func settle(entries []*entry) (tidy bool) {
	tidy = true
	byID := make(map[string]*entry, len(entries))
	for _, e := range entries {
		byID[e.meta.RecordID] = e
	}
	for _, e := range entries {
		e.live = true
		for _, id := range e.meta.Absorbed {
			switch child := byID[id]; {
			case child == nil:
				e.missing = append(e.missing, id)
				tidy = false
			case child.meta.Branch == e.meta.Branch:
				e.absorbs = append(e.absorbs, child)
			}
		}
	}
	findCircles(entries)
	for _, e := range entries {
		for _, child := range e.absorbs {
			if child.group != e.group {
				child.live = false
			} else {
				tidy = false
			}
		}
	}
	if anyRepeated(entries) {
		newRivals(entries).settle()
		tidy = false
	}
	return tidy
}

// anyRepeated reports whether two records stand for one thing directly. Otherwise no record can
// stand for all that another one does, except by absorbing it.
func anyRepeated(entries []*entry) bool {
	var positions bitset
	loose := map[point]bool{}
	parent := make(map[*entry]*entry, len(entries))
	for _, e := range entries {
		for i := range e.covered.all() {
			if positions.has(int(i)) {
				return true
			}
			positions.add(int(i))
		}
		for _, p := range e.unplaced() {
			if loose[p] {
				return true
			}
			loose[p] = true
		}
		for _, child := range e.absorbs {
			if other := parent[child]; other != nil && other != e {
				return true
			}
			parent[child] = e
		}
	}
	return false
}

// rivals compares records by what they stand for. Two processes that compact one session at once
// write records over the same events.
type rivals struct {
	entries  []*entry
	coverers map[point][]*entry
	parents  map[*entry][]*entry
	claims   map[*entry]claim
}

// claim is what a record stands for: through which records, itself among them, and in the end.
type claim struct {
	records map[*entry]bool
	points  map[point]bool
}

func newRivals(entries []*entry) *rivals {
	r := &rivals{
		entries:  slices.Clone(entries),
		coverers: map[point][]*entry{},
		parents:  map[*entry][]*entry{},
		claims:   map[*entry]claim{},
	}
	for _, e := range entries {
		for _, p := range e.points() {
			r.coverers[p] = append(r.coverers[p], e)
		}
		for _, child := range e.absorbs {
			r.parents[child] = append(r.parents[child], e)
		}
	}
	return r
}

// settle ends the life of every record that a later one replaces, the latest first, so that what
// replaces a record never turns out to be replaced by it.
func (r *rivals) settle() {
	slices.SortFunc(r.entries, func(a, b *entry) int { return later(b.meta, a.meta) })
	for _, e := range r.entries {
		if e.live && r.replaced(e) {
			e.live = false
		}
	}
}

// replaced reports whether a later record of the branch stands for all that e stands for, and is
// itself shown or stood for by one that is.
func (r *rivals) replaced(e *entry) bool {
	own := r.claimOf(e)
	for p := range own.points {
		for candidate := range r.above(r.coverers[p]...) {
			if !own.records[candidate] && candidate.meta.Branch == e.meta.Branch && candidate.meta.Later(e.meta) &&
				contains(r.claimOf(candidate).points, own.points) && r.shown(candidate, e) {
				return true
			}
		}
		break // whoever stands for all of it stands for any one point
	}
	return false
}

// shown reports whether a live record other than e stands for all that candidate stands for.
func (r *rivals) shown(candidate, e *entry) bool {
	for above := range r.above(candidate) {
		if above.live && above != e {
			return true
		}
	}
	return false
}

func (r *rivals) claimOf(e *entry) claim {
	c, ok := r.claims[e]
	if !ok {
		c = claim{records: map[*entry]bool{}, points: map[point]bool{}}
		e.each(c.records, func(d *entry) {
			for _, p := range d.points() {
				c.points[p] = true
			}
		})
		r.claims[e] = c
	}
	return c
}

// above returns the given records and all that absorb them, transitively.
func (r *rivals) above(of ...*entry) map[*entry]bool {
	out := map[*entry]bool{}
	stack := slices.Clone(of)
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !out[top] {
			out[top] = true
			stack = append(stack, r.parents[top]...)
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

// later compares two records by when they were made.
func later(a, b *record.Metadata) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.RecordID, b.RecordID))
}
