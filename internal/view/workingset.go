package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// workingSet is the part of a history that a view is computed from: first the whole history, then
// the visible events, in the order of the backend.
type workingSet struct {
	events []*session.Event
	// at are the positions of the events in the history; nil if events is the whole history.
	at []int32
	// covered marks the events that a current record covers. It may be shorter than events.
	covered []bool
	// ids has the hash of each event's ID, and which event of the set it is: sorted, in eight bytes each. It is nil until an
	// event is looked for, and is kept as long as the set has the same events: records in a row look for their events in
	// what a long history shows.
	ids []uint64
}

// isCovered reports whether a current record covers event i of the set.
func (w *workingSet) isCovered(i int) bool { return i < len(w.covered) && w.covered[i] }

// cover marks event i of the set as covered.
func (w *workingSet) cover(i int) {
	if w.covered == nil {
		w.covered = make([]bool, len(w.events))
	}
	w.covered = append(w.covered, make([]bool, max(0, len(w.events)-len(w.covered)))...)
	w.covered[i] = true
}

// position returns where event i of the set is in the history.
func (w *workingSet) position(i int) int {
	if w.at == nil {
		return i
	}
	return int(w.at[i])
}

// index returns which event of the set is at a position of the history, -1 if none is.
func (w *workingSet) index(position int) int {
	if w.at == nil {
		return position
	}
	i, found := slices.BinarySearch(w.at, int32(position))
	if !found {
		return -1
	}
	return i
}

// named returns the position in the history of the one event of the set that has an ID; false if none has it, or several.
func (w *workingSet) named(id string) (position int, ok bool) {
	if id == "" {
		return 0, false
	}
	if w.ids == nil {
		w.ids = indexIDs(w.events)
	}
	hash, found := uint64(hashID(id)), -1
	first, _ := slices.BinarySearch(w.ids, hash<<32)
	for _, key := range w.ids[first:] {
		if key>>32 != hash {
			break
		}
		if i := int(uint32(key)); record.Normalize(w.events[i].ID) == id {
			if found >= 0 {
				return 0, false
			}
			found = i
		}
	}
	if found < 0 {
		return 0, false
	}
	return w.position(found), true
}

// indexIDs returns the index of workingSet.ids.
func indexIDs(events []*session.Event) []uint64 {
	ids := make([]uint64, 0, len(events))
	for i, ev := range events {
		if ev != nil && ev.ID != "" && !record.Is(ev) {
			ids = append(ids, uint64(hashID(record.Normalize(ev.ID)))<<32|uint64(i))
		}
	}
	slices.Sort(ids)
	return ids
}

// with returns a set with one more event, the newest of the history.
func (w *workingSet) with(ev *session.Event, position int) workingSet {
	next := workingSet{events: append(w.events, ev), covered: slices.Clip(w.covered)}
	if w.at != nil {
		next.at = append(w.at, int32(position))
	}
	return next
}

// positioned returns a set of its own slices, in which each event has its position, so that a
// record can be added to the history without being added to the set.
func (w *workingSet) positioned() workingSet {
	next := workingSet{events: slices.Clip(w.events), at: slices.Clip(w.at), covered: slices.Clone(w.covered), ids: w.ids}
	if w.at == nil {
		next.at = make([]int32, len(w.events))
		for i := range next.at {
			next.at[i] = int32(i)
		}
	}
	return next
}

// without returns the set of the events that are not hidden.
func (w *workingSet) without(hidden []bool) workingSet {
	left := 0
	for _, is := range hidden {
		if !is {
			left++
		}
	}
	if left == len(hidden) {
		return *w
	}
	next := workingSet{events: make([]*session.Event, 0, left), at: make([]int32, 0, left)}
	for i, ev := range w.events {
		if hidden[i] {
			continue
		}
		next.events, next.at = append(next.events, ev), append(next.at, int32(w.position(i)))
		if w.isCovered(i) {
			next.cover(len(next.events) - 1)
		}
	}
	return next
}
