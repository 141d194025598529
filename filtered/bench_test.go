package filtered_test

import (
	"testing"

	"github.com/adk-go-ext/longsession/filtered"
)

// BenchmarkEventsNothingNew asks a session of 1,000 events for its view when no event is new.
func BenchmarkEventsNothingNew(b *testing.B) {
	inner, add := stored(b)
	add(turns(499).Compact("s", "e1", "e2").Events...)
	s := filtered.NewFilteredSession(inner)
	b.ReportAllocs()
	for b.Loop() {
		s.Events()
	}
}
