package audit

import (
	"cmp"
	"slices"
	"sort"
)

// rowNow is an event as the file has it now.
type rowNow struct {
	mark mark
	seq  int64
	id   string
}

// rowDiff is what happened to the events of a sealed session. Sealed events are given by their numbers
// when they were sealed, others by their positions in the rows of now.
type rowDiff struct {
	changed  []rowPair
	moved    []rowPair
	deleted  []int64
	inserted []int
	// added counts what stands behind all that was sealed.
	added int
}

// rowPair is an event that was sealed under one number, and its position now.
type rowPair struct {
	sealed int64
	now    int
}

// diffRows compares the marks of a sealed session with its rows now. Rows with the same content are the
// same event, because IDs are unique in a session. As many of them as possible are taken to have stayed
// where they were; the others were moved. Between two that stayed, what is missing on one side and new on
// the other was changed.
func diffRows(sealed []mark, now []rowNow) rowDiff {
	at := make(map[mark]int, len(sealed))
	for i, m := range sealed {
		at[m] = i
	}
	was := make([]int, len(now)) // position in sealed, -1 for new content
	for j, row := range now {
		was[j] = -1
		if i, ok := at[row.mark]; ok {
			was[j] = i
			delete(at, row.mark) // a copy of a row is a new one
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

// pair decides for one stretch which events were changed, deleted and inserted: of those with one number
// the one became the other, and then the first of what is left the first, and so on.
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

// longestIncreasing marks a longest increasing subsequence of the values that are not negative.
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
