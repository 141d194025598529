package record_test

import (
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 123_456_789, time.UTC)

func event(id, invocation, author string, at time.Time) *session.Event {
	return &session.Event{ID: id, InvocationID: invocation, Author: author, Timestamp: at}
}

func TestFindNamesOneEventOrNone(t *testing.T) {
	t.Parallel()
	bookkeeping := event("rec", "i9", "user", noon)
	record.Set(bookkeeping, small())
	events := []*session.Event{
		0:  event("a", "i1", "user", noon),
		1:  event("b", "i1", "bot", noon),
		2:  event("twin", "i2", "user", noon),
		3:  event("twin", "i2", "bot", noon),
		4:  event("", "i3", "bot", noon),
		5:  event("c", "i4", "bot", noon),
		6:  event("d", "i4", "bot", noon.Add(100*time.Nanosecond)), // one microsecond with c
		7:  event("e", "i4", "bot", noon.Add(time.Microsecond)),
		8:  nil,
		9:  bookkeeping,
		10: event("z", "", "", time.Time{}),
	}
	ref := func(id, invocation, author string, at time.Time) record.Ref {
		return record.Ref{ID: id, InvocationID: invocation, Author: author, Timestamp: at}
	}
	const none = -1
	for _, r := range []struct {
		name string
		ref  record.Ref
		want int
	}{
		{"unique ID", record.RefTo(events[0]), 0},
		{"ID alone", ref("b", "", "", time.Time{}), 1},
		{"ID before alternative key", ref("a", "i1", "bot", noon), 0},
		{"ID that two have", record.RefTo(events[2]), none},
		{"empty ID, by alternative key", record.RefTo(events[4]), 4},
		{"empty ID is no ID", ref("", "i8", "bot", noon), none},
		{"renamed, by alternative key", ref("old", "i1", "bot", noon), 1},
		{"renamed, cut to microseconds", ref("old", "i1", "bot", noon.Truncate(time.Microsecond)), 1},
		{"renamed, another zone", ref("old", "i1", "bot", noon.In(time.FixedZone("x", 3600))), 1},
		{"renamed, another microsecond", ref("old", "i1", "bot", noon.Add(time.Microsecond)), none},
		{"renamed, another author", ref("old", "i1", "helper", noon), none},
		{"renamed, another invocation", ref("old", "i8", "bot", noon), none},
		{"alternative key that two have", ref("old", "i4", "bot", noon), none},
		{"next to such a key", ref("old", "i4", "bot", noon.Add(time.Microsecond)), 7},
		{"unknown ID, no other field", ref("old", "", "", time.Time{}), none},
		{"a record", ref("rec", "", "", time.Time{}), none},
		{"a record's alternative key", ref("old", "i9", "user", noon), none},
		{"nothing", record.Ref{}, none},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got, ok := record.NewIndex(events).Find(r.ref)
			if !ok {
				got = none
			}
			if got != r.want {
				t.Errorf("found %d, want %d", got, r.want)
			}
		})
	}
}

func TestNilIndexFindsNothing(t *testing.T) {
	t.Parallel()
	var x *record.Index
	if _, ok := x.Find(record.Ref{ID: "a"}); ok {
		t.Error("a nil index finds an event")
	}
	if _, ok := record.NewIndex(nil).Find(record.Ref{InvocationID: "a"}); ok {
		t.Error("an empty index finds an event")
	}
}

// Services cut timestamps, they do not round them, also before 1970.
func TestPlaceCutsTime(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{noon, time.Unix(-5, 999_999_999), time.Date(1, 1, 1, 0, 0, 0, 1_999, time.UTC)} {
		ev := event("a", "i", "bot", at)
		stored := event("a", "i", "bot", at.Truncate(time.Microsecond))
		if record.RefTo(ev).AltKey() != record.RefTo(stored).AltKey() {
			t.Errorf("%v and its stored time are in two places", at)
		}
	}
}
