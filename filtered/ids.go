package filtered

import (
	"hash/maphash"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// idSet counts how many events of a history may have an ID, in four bytes an event: by hash, so two
// IDs may be taken for one. Copies share what they have in common; only one of them may grow in
// place, the others must be clipped first.
type idSet struct {
	sorted []uint32 // never changed
	recent []uint32 // in order of arrival
}

// maxRecent bounds the part that is searched one by one. Merging costs a copy of the whole set, so
// it must be rare in a long history.
const maxRecent = 1024

func newIDSet(events []*session.Event) *idSet {
	set := &idSet{sorted: make([]uint32, 0, len(events))}
	for _, ev := range events {
		if identified(ev) {
			set.sorted = append(set.sorted, idKey(record.Text(ev.ID)))
		}
	}
	slices.Sort(set.sorted)
	return set
}

// identified reports whether a reference may name the event by its ID.
func identified(ev *session.Event) bool { return ev != nil && ev.ID != "" && !record.Is(ev) }

func (s *idSet) add(ev *session.Event) {
	if !identified(ev) {
		return
	}
	if s.recent = append(s.recent, idKey(record.Text(ev.ID))); len(s.recent) < maxRecent {
		return
	}
	merged := make([]uint32, 0, len(s.sorted)+len(s.recent))
	recent := slices.Sorted(slices.Values(s.recent))
	for _, key := range s.sorted {
		for len(recent) > 0 && recent[0] < key {
			merged = append(merged, recent[0])
			recent = recent[1:]
		}
		merged = append(merged, key)
	}
	s.sorted, s.recent = append(merged, recent...), nil
}

// count returns how many events have the ID, or one that looks like it.
func (s *idSet) count(id string) int {
	key := idKey(id)
	n := 0
	for i, _ := slices.BinarySearch(s.sorted, key); i < len(s.sorted) && s.sorted[i] == key; i++ {
		n++
	}
	for _, other := range s.recent {
		if other == key {
			n++
		}
	}
	return n
}

// fork returns a copy that may grow beside the original.
func (s *idSet) fork() *idSet {
	if s == nil {
		return nil
	}
	return &idSet{sorted: s.sorted, recent: slices.Clip(s.recent)}
}

var seed = maphash.MakeSeed()

func idKey(id string) uint32 { return uint32(maphash.String(seed, id)) }
