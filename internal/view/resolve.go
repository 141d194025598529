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
	higher := true // each record is of a higher level than those it absorbs, so there is no circle
	for _, n := range nodes {
		n.current, n.circle = true, n
		for _, id := range n.meta.Absorbed {
			switch child := byID[id]; {
			case child == nil:
				n.absent = append(n.absent, id)
				consistent = false
			case child.meta.Branch == n.meta.Branch:
				n.absorbs = append(n.absorbs, child)
				child.absorbedBy = append(child.absorbedBy, n)
				higher = higher && child.meta.Level < n.meta.Level
			}
		}
	}
	if !higher {
		findCircles(nodes)
	}
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
	for _, n := range nodes {
		if slices.ContainsFunc(n.absorbedBy, func(other *recordNode) bool { return other != n.absorbedBy[0] }) {
			return true
		}
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
	coverage map[*recordNode]coverage
}

// coverage is what a record stands for: the records it includes, itself among them, and the points.
type coverage struct {
	records map[*recordNode]bool
	points  map[point]bool
}

// compare prepares to compare the given records, all of one history.
func compare(nodes []*recordNode) *competing {
	r := &competing{
		nodes:    slices.Clone(nodes),
		coverers: map[point][]*recordNode{},
		coverage: map[*recordNode]coverage{},
	}
	for _, n := range nodes {
		for _, p := range n.points() {
			r.coverers[p] = append(r.coverers[p], n)
		}
	}
	return r
}

// resolve makes every record that a later one replaces no longer current. It starts with the latest, so
// that a record is never replaced by one that it has replaced.
func (r *competing) resolve() {
	slices.SortFunc(r.nodes, func(a, b *recordNode) int { return later(b.meta, a.meta) })
	for _, n := range r.nodes {
		if n.current && r.replaced(n) {
			n.current = false
		}
	}
}

// replaced reports whether a later record of the branch stands for everything that n stands for, and is
// shown itself or is absorbed by one that is.
func (r *competing) replaced(n *recordNode) bool {
	own := r.coverageOf(n)
	for p := range own.points {
		for candidate := range above(r.coverers[p]...) {
			if !own.records[candidate] && candidate.meta.Branch == n.meta.Branch && candidate.meta.Later(n.meta) &&
				contains(r.coverageOf(candidate).points, own.points) && isShown(candidate, n) {
				return true
			}
		}
		break // a record that stands for all of the points stands for any one of them
	}
	return false
}

// isShown reports whether a current record other than n is, or absorbs, the candidate.
func isShown(candidate, n *recordNode) bool {
	for m := range above(candidate) {
		if m.current && m != n {
			return true
		}
	}
	return false
}

func (r *competing) coverageOf(n *recordNode) coverage {
	c, ok := r.coverage[n]
	if !ok {
		c = coverage{records: map[*recordNode]bool{}, points: map[point]bool{}}
		walk([]*recordNode{n}, absorbed, func(_, d *recordNode) {
			c.records[d] = true
			for _, p := range d.points() {
				c.points[p] = true
			}
		})
		r.coverage[n] = c
	}
	return c
}

// above returns the given records and all that absorb them, directly or not.
func above(of ...*recordNode) map[*recordNode]bool {
	out := map[*recordNode]bool{}
	walk(of, absorbers, func(_, n *recordNode) { out[n] = true })
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
