package view

import (
	"cmp"
	"slices"

	"github.com/adk-go-ext/longsession/record"
)

// resolveCurrent decides which records are current. A record is current unless another record of its
// branch absorbs it, or a later record stands for everything that it stands for. Records that absorb
// each other in a circle, which only a forger writes, all stay current. For example,
//
//	r1  covers e1, e2
//	r2  covers e3
//	r3  absorbs r1 and r2     only r3 is current; it stands for e1, e2 and e3
//
// The result is true if the records are consistent, see [projection].
func resolveCurrent(nodes []*recordNode) (consistent bool) {
	consistent = true
	byID := make(map[string]*recordNode, len(nodes))
	for _, n := range nodes {
		byID[n.meta.RecordID] = n
	}
	for _, n := range nodes {
		n.current = true
		for _, id := range n.meta.Absorbed {
			switch child := byID[id]; {
			case child == nil:
				n.absent = append(n.absent, id)
				consistent = false
			case child.meta.Branch == n.meta.Branch:
				n.absorbs = append(n.absorbs, child)
			}
		}
	}
	findCircles(nodes)
	for _, n := range nodes {
		for _, child := range n.absorbs {
			if child.circle != n.circle {
				child.current = false
			} else {
				consistent = false
			}
		}
	}
	if anyRepeated(nodes) {
		compare(nodes).resolve()
		consistent = false
	}
	return consistent
}

// anyRepeated reports whether two records stand for one thing directly. Otherwise no record can
// stand for everything that another one does, except by absorbing it.
func anyRepeated(nodes []*recordNode) bool {
	var covered []bool
	named := map[point]bool{}
	parent := make(map[*recordNode]*recordNode, len(nodes))
	for _, n := range nodes {
		for _, i := range n.covered {
			covered = append(covered, make([]bool, max(0, int(i)+1-len(covered)))...)
			if covered[i] {
				return true
			}
			covered[i] = true
		}
		for _, p := range n.unplaced() {
			if named[p] {
				return true
			}
			named[p] = true
		}
		for _, child := range n.absorbs {
			if other := parent[child]; other != nil && other != n {
				return true
			}
			parent[child] = n
		}
	}
	return false
}

// competing compares records by what they stand for. Two processes that compact one session at once
// write records over the same events. For example,
//
//	r1  covers e1, e2
//	r2  covers e1, e2, e3     stands for all of r1, and was made later: r1 is not current
//	r3  covers e3, e4         neither contains the other: r2 and r3 are both current
type competing struct {
	nodes    []*recordNode
	coverers map[point][]*recordNode
	parents  map[*recordNode][]*recordNode
	coverage map[*recordNode]coverage
}

// coverage is what a record stands for: the records it includes, itself among them, and the points.
type coverage struct {
	records map[*recordNode]bool
	points  map[point]bool
}

func compare(nodes []*recordNode) *competing {
	r := &competing{
		nodes:    slices.Clone(nodes),
		coverers: map[point][]*recordNode{},
		parents:  map[*recordNode][]*recordNode{},
		coverage: map[*recordNode]coverage{},
	}
	for _, e := range nodes {
		for _, p := range e.points() {
			r.coverers[p] = append(r.coverers[p], e)
		}
		for _, child := range e.absorbs {
			r.parents[child] = append(r.parents[child], e)
		}
	}
	return r
}

// resolve makes every record that a later one replaces no longer current. It starts with the latest, so
// that a record is never replaced by one that it has replaced.
func (r *competing) resolve() {
	slices.SortFunc(r.nodes, func(a, b *recordNode) int { return later(b.meta, a.meta) })
	for _, e := range r.nodes {
		if e.current && r.replaced(e) {
			e.current = false
		}
	}
}

// replaced reports whether a later record of the branch stands for all that e stands for, and is
// itself shown or stood for by one that is.
func (r *competing) replaced(e *recordNode) bool {
	own := r.coverageOf(e)
	for p := range own.points {
		for candidate := range r.above(r.coverers[p]...) {
			if !own.records[candidate] && candidate.meta.Branch == e.meta.Branch && candidate.meta.Later(e.meta) &&
				contains(r.coverageOf(candidate).points, own.points) && r.shown(candidate, e) {
				return true
			}
		}
		break // a record that stands for all of it stands for any one point
	}
	return false
}

// shown reports whether a current record other than e stands for all that candidate stands for.
func (r *competing) shown(candidate, e *recordNode) bool {
	for above := range r.above(candidate) {
		if above.current && above != e {
			return true
		}
	}
	return false
}

func (r *competing) coverageOf(e *recordNode) coverage {
	c, ok := r.coverage[e]
	if !ok {
		c = coverage{records: map[*recordNode]bool{}, points: map[point]bool{}}
		e.each(c.records, func(d *recordNode) {
			for _, p := range d.points() {
				c.points[p] = true
			}
		})
		r.coverage[e] = c
	}
	return c
}

// above returns the given records and all that absorb them, transitively.
func (r *competing) above(of ...*recordNode) map[*recordNode]bool {
	out := map[*recordNode]bool{}
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
