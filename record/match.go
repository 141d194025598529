package record

import (
	"time"
	"unicode/utf8"

	"google.golang.org/adk/session"
)

// RefTo returns a reference to ev.
func RefTo(ev *session.Event) Ref {
	return Ref{ID: Normalize(ev.ID), InvocationID: Normalize(ev.InvocationID), Timestamp: ev.Timestamp, Author: Normalize(ev.Author)}
}

// Normalize returns a name (an event ID, an author, a branch) as JSON holds it: each byte that is
// not UTF-8 becomes U+FFFD. Records are JSON, but some backends keep the original bytes of an
// event's names in columns of their own, so all comparisons between events and records use this
// form.
func Normalize(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return string([]rune(name))
}

// AltKey identifies an event without its ID. It is comparable. A reference falls back to it where a
// backend has renamed the event's ID, as Vertex AI does. Times are cut to microseconds, the
// precision that every backend keeps.
type AltKey struct {
	InvocationID string
	Author       string
	Micros       int64
}

// AltKey returns the alternative key of the event that the reference names.
func (r Ref) AltKey() AltKey { return AltKey{r.InvocationID, r.Author, micros(r.Timestamp)} }

// micros truncates a time to microseconds, as the services do. A time outside the range of RFC 3339
// becomes the nearest one inside, so that a reference finds its event both before and after
// storage.
func micros(t time.Time) int64 { return storable(t).Truncate(time.Microsecond).UnixMicro() }

// Index finds the events of one history by reference. It is not safe for concurrent use. A nil
// *Index finds nothing.
type Index struct {
	events []*session.Event
	byID   map[string]int32
	// unique means that no two events share an ID. next is the position after the event found last:
	// a record names its events in order, so the next reference nearly always names the event
	// there.
	unique bool
	next   int
	// byAltKey is built when the first reference is not found by ID. On most backends that never
	// happens.
	byAltKey map[AltKey]int32
}

// ambiguous is the position of a key that more than one event has.
const ambiguous = -1

// NewIndex indexes the events that are not bookkeeping. Events may be nil. The index keeps the
// slice, which must not change.
func NewIndex(events []*session.Event) *Index {
	x := &Index{events: events, byID: make(map[string]int32, len(events)), unique: true}
	for i, ev := range events {
		if ev == nil || ev.ID == "" || Is(ev) {
			continue
		}
		id := Normalize(ev.ID)
		if _, taken := x.byID[id]; taken {
			x.byID[id] = ambiguous
			x.unique = false
		} else {
			x.byID[id] = int32(i)
		}
	}
	return x
}

// Find returns the position of the one event that ref names, and false if there is none or more
// than one. If any event has the reference's ID, the ID decides; else the alternative key does.
//
//	events:  e1 at 12:00 by bot, e2 at 12:00 by bot, e3 at 12:01 by bot, all of one invocation
//	ref e1 at 12:00      finds e1, by ID
//	ref v9 at 12:01      finds e3, by alternative key
//	ref v9 at 12:00      finds nothing: e1 and e2 have this key
//
// A zero reference finds nothing, and so does a reference that has only an ID if no event has that
// ID.
func (x *Index) Find(ref Ref) (int, bool) {
	if x == nil {
		return 0, false
	}
	if i, ok := x.named(ref.ID); ok {
		return i, i != ambiguous
	}
	if ref.hasNoAltKey() {
		return 0, false
	}
	if x.byAltKey == nil {
		x.indexAltKeys()
	}
	i, ok := x.byAltKey[ref.AltKey()]
	return int(i), ok && i != ambiguous
}

// FindID is [Index.Find] by ID alone, for a history that was loaded in part: the alternative key of
// an event that is not loaded could find another event.
func (x *Index) FindID(ref Ref) (int, bool) {
	if x == nil {
		return 0, false
	}
	i, ok := x.named(ref.ID)
	return i, ok && i != ambiguous
}

// named returns the position of the event with an ID, [ambiguous] if several have it.
func (x *Index) named(id string) (int, bool) {
	if x.unique && id != "" && x.next < len(x.events) && x.events[x.next] != nil && x.events[x.next].ID == id && !Is(x.events[x.next]) {
		x.next++
		return x.next - 1, true
	}
	i, ok := x.byID[id]
	x.next = int(i) + 1
	return int(i), ok
}

func (x *Index) indexAltKeys() {
	x.byAltKey = make(map[AltKey]int32, len(x.events))
	for i, ev := range x.events {
		if ev == nil || Is(ev) {
			continue
		}
		key := RefTo(ev).AltKey()
		if _, taken := x.byAltKey[key]; taken {
			x.byAltKey[key] = ambiguous
		} else {
			x.byAltKey[key] = int32(i)
		}
	}
}
