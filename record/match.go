package record

import (
	"time"
	"unicode/utf8"

	"google.golang.org/adk/session"
)

// RefTo returns the reference that names ev.
func RefTo(ev *session.Event) Ref {
	return Ref{ID: Text(ev.ID), InvocationID: Text(ev.InvocationID), Timestamp: ev.Timestamp, Author: Text(ev.Author)}
}

// Text is a name as a record holds it, which is JSON: each byte that is not UTF-8 is U+FFFD. Some
// backends keep such bytes in their own columns, so names are compared in this form.
func Text(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return string([]rune(name))
}

// Place is the second way to find an event, comparable: times at microseconds, the precision that
// every backend keeps.
type Place struct {
	InvocationID string
	Author       string
	Micros       int64
}

// PlaceOf returns the event's place.
func PlaceOf(ev *session.Event) Place {
	return Place{Text(ev.InvocationID), Text(ev.Author), micros(ev.Timestamp)}
}

// Place returns the place the reference names.
func (r Ref) Place() Place { return Place{r.InvocationID, r.Author, micros(r.Timestamp)} }

// micros cuts rather than rounds, because that is what the services do. A time that a record cannot
// write is the nearest that it can, or its reference would find nothing once it has been stored.
func micros(t time.Time) int64 { return storable(t).Truncate(time.Microsecond).UnixMicro() }

// Index finds the events that references name within one history. It is not safe for concurrent
// use; a nil *Index finds nothing.
type Index struct {
	events []*session.Event
	byID   map[string]int32
	// unique says that no two events have one ID, and next is the position behind the last one found: a
	// record names its events in order, so the next reference nearly always names that one.
	unique bool
	next   int
	// byPlace is built when the first reference misses by ID, which on most backends is never.
	byPlace map[Place]int32
}

// ambiguous marks a key that more than one event has.
const ambiguous = -1

// NewIndex indexes the events that are not bookkeeping. Nil events are passed over.
func NewIndex(events []*session.Event) *Index {
	x := &Index{events: events, byID: make(map[string]int32, len(events)), unique: true}
	for i, ev := range events {
		if ev == nil || ev.ID == "" || Is(ev) {
			continue
		}
		id := Text(ev.ID)
		if _, taken := x.byID[id]; taken {
			x.byID[id] = ambiguous
			x.unique = false
		} else {
			x.byID[id] = int32(i)
		}
	}
	return x
}

// Find returns the position of the one event that ref names, and false where there is none or more
// than one: by ID if any event has it, else by place. A zero reference names nothing, and so does one
// with an ID alone that no event has.
func (x *Index) Find(ref Ref) (int, bool) {
	if x == nil {
		return 0, false
	}
	if i, ok := x.named(ref.ID); ok {
		return i, i != ambiguous
	}
	if ref.placeless() {
		return 0, false
	}
	if x.byPlace == nil {
		x.indexPlaces()
	}
	i, ok := x.byPlace[ref.Place()]
	return int(i), ok && i != ambiguous
}

// FindID is Find by ID alone, for a history of which events may be missing: by its place, a reference
// to one of those would find another event.
func (x *Index) FindID(ref Ref) (int, bool) {
	if x == nil {
		return 0, false
	}
	i, ok := x.named(ref.ID)
	return i, ok && i != ambiguous
}

// named returns the position of the event of an ID, ambiguous if there are several.
func (x *Index) named(id string) (int, bool) {
	if x.unique && id != "" && x.next < len(x.events) && x.events[x.next] != nil && x.events[x.next].ID == id && !Is(x.events[x.next]) {
		x.next++
		return x.next - 1, true
	}
	i, ok := x.byID[id]
	x.next = int(i) + 1
	return int(i), ok
}

func (x *Index) indexPlaces() {
	x.byPlace = make(map[Place]int32, len(x.events))
	for i, ev := range x.events {
		if ev == nil || Is(ev) {
			continue
		}
		place := PlaceOf(ev)
		if _, taken := x.byPlace[place]; taken {
			x.byPlace[place] = ambiguous
		} else {
			x.byPlace[place] = int32(i)
		}
	}
}
