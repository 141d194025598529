package audit

import (
	"cmp"
	"slices"
	"sort"
)

// rowNow is an event in the file now.
type rowNow struct {
	print fingerprint
	seq   int64
	id    string
}

// rowDiff describes what happened to the events of a sealed session. It names sealed events by
// their numbers in the seal, and other events by their positions among the rows now.
type rowDiff struct {
	changed  []rowPair
	moved    []rowPair
	deleted  []int64
	inserted []int
	// added counts the events behind all sealed ones.
	added int
}

// rowPair is an event: its number in the seal, and its position now.
type rowPair struct {
	sealed int64
	now    int
}

// diffRows compares the fingerprints of a sealed session with its rows now. Rows with the same
// content are the same event, because IDs are unique in a session. As many of them as possible
// count as unmoved, the others as moved. Between two unmoved events, one that is missing and one
// that is new are one event that was changed.
//
// For example, if A B C D was sealed and the file has A C x B D, then A, B and D did not move, C
// was moved, and x was inserted.
func diffRows(sealed []fingerprint, now []rowNow) rowDiff {
	at := make(map[fingerprint]int, len(sealed))
	for i, m := range sealed {
		at[m] = i
	}
	// was has each row's position in sealed, or -1 for new content. What remains in at is gone.
	was := make([]int, len(now))
	for j, row := range now {
		was[j] = -1
		if i, ok := at[row.print]; ok {
			was[j] = i
			delete(at, row.print) // a copy of a row counts as new
		}
	}
	gone := make([]bool, len(sealed))
	for _, i := range at {
		gone[i] = true
	}
	var d rowDiff
	stayed := longestIncreasing(was)
	for j, i := range was {
		if i >= 0 && !stayed[j] {
			d.moved = append(d.moved, rowPair{int64(i) + 1, j})
		}
	}
	// Unmoved events cut both lists into the same number of gaps. A gap ends before sealed event i
	// and row j; what is missing in it on one side and new on the other belongs together.
	nextSealed, nextNow := 0, 0
	gap := func(toSealed, toNow int, last bool) {
		var missing []int64
		var fresh []int
		for i := nextSealed; i < toSealed; i++ {
			if gone[i] {
				missing = append(missing, int64(i)+1)
			}
		}
		for j := nextNow; j < toNow; j++ {
			if was[j] < 0 {
				fresh = append(fresh, j)
			}
		}
		d.pair(missing, fresh, now, last)
	}
	for j, i := range was {
		if i >= 0 && stayed[j] {
			gap(i, j, false)
			nextSealed, nextNow = i+1, j+1
		}
	}
	gap(len(sealed), len(now), true)
	slices.SortFunc(d.changed, func(a, b rowPair) int { return cmp.Compare(a.sealed, b.sealed) })
	return d
}

// pair decides, between two unmoved events, which events were changed, deleted and inserted. It
// pairs a missing and a new event of the same number, and then the remaining ones in order. For
// example, if the sealed events 4 and 5 are missing, and a row with the number 5 is new, then event 5
// was changed and event 4 was deleted.
//
// In the last gap, behind all unmoved events, a new row without a partner of the same number was
// added after the seal was made, which is no finding.
func (d *rowDiff) pair(missing []int64, fresh []int, now []rowNow, last bool) {
	bySeq := make(map[int64]int, len(fresh))
	for _, j := range fresh {
		bySeq[now[j].seq] = j
	}
	used := map[int]bool{}
	var left []int64
	for _, seq := range missing {
		if j, ok := bySeq[seq]; ok && !used[j] {
			used[j] = true
			d.changed = append(d.changed, rowPair{seq, j})
		} else {
			left = append(left, seq)
		}
	}
	for _, j := range fresh {
		switch {
		case used[j]:
		case len(left) > 0 && !last:
			d.changed = append(d.changed, rowPair{left[0], j})
			left = left[1:]
		case last:
			d.added++
		default:
			d.inserted = append(d.inserted, j)
		}
	}
	d.deleted = append(d.deleted, left...)
}

// longestIncreasing marks one longest increasing subsequence of the values that are not negative. In
// 0 2 -1 1 3, the sealed positions of the rows A C x B D, it marks 0, 1 and 3. It takes O(n log n)
// steps, because a session may have a hundred thousand events.
func longestIncreasing(values []int) []bool {
	var ends []int // position of the smallest value that ends a subsequence of each length
	before := make([]int, len(values))
	for j, v := range values {
		if v < 0 {
			continue
		}
		n := sort.Search(len(ends), func(n int) bool { return values[ends[n]] >= v })
		before[j] = -1
		if n > 0 {
			before[j] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, j)
		} else {
			ends[n] = j
		}
	}
	in := make([]bool, len(values))
	if len(ends) == 0 {
		return in
	}
	for j := ends[len(ends)-1]; j >= 0; j = before[j] {
		in[j] = true
	}
	return in
}
