package view

import (
	"hash/maphash"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// marks counts how many things of a history may have an ID, in four bytes each: by hash, so two IDs may
// be taken for one. Copies share what they have in common; only one of them may grow in place, the
// others must be forked first.
type marks struct {
	sorted []uint32 // never changed
	recent []uint32 // in order of arrival
}

// maxRecent bounds the part that is searched one by one. Merging costs a copy of the whole, so it must
// be rare in a long history.
const maxRecent = 1024

// markEvents marks the IDs of events.
func markEvents(events []*session.Event) *marks {
	m := &marks{sorted: make([]uint32, 0, len(events))}
	for _, ev := range events {
		if identified(ev) {
			m.sorted = append(m.sorted, idKey(record.Normalize(ev.ID)))
		}
	}
	slices.Sort(m.sorted)
	return m
}

// identified reports whether a reference may name the event by its ID.
func identified(ev *session.Event) bool { return ev != nil && ev.ID != "" && !record.Is(ev) }

func (m *marks) add(id string) {
	if m.recent = append(m.recent, idKey(id)); len(m.recent) < maxRecent {
		return
	}
	merged := make([]uint32, 0, len(m.sorted)+len(m.recent))
	recent := slices.Sorted(slices.Values(m.recent))
	for _, key := range m.sorted {
		for len(recent) > 0 && recent[0] < key {
			merged = append(merged, recent[0])
			recent = recent[1:]
		}
		merged = append(merged, key)
	}
	m.sorted, m.recent = append(merged, recent...), nil
}

// count returns how many have the ID, or one that looks like it.
func (m *marks) count(id string) int {
	key := idKey(id)
	n := 0
	for i, _ := slices.BinarySearch(m.sorted, key); i < len(m.sorted) && m.sorted[i] == key; i++ {
		n++
	}
	for _, other := range m.recent {
		if other == key {
			n++
		}
	}
	return n
}

// fork returns a copy that may grow beside the original.
func (m *marks) fork() *marks {
	if m == nil {
		return nil
	}
	return &marks{sorted: m.sorted, recent: slices.Clip(m.recent)}
}

var seed = maphash.MakeSeed()

func idKey(id string) uint32 { return uint32(maphash.String(seed, id)) }

func placeKey(place record.AltKey) uint32 { return uint32(maphash.Comparable(seed, place)) }
