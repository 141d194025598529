package view

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// A keySet holds what was added, at any time and in any order, and leaves older sets as they were.
func TestKeySetHoldsWhatWasAdded(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		type step struct {
			set   keySet
			added []uint32
		}
		steps := []step{{}}
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			last := steps[len(steps)-1]
			more := rapid.SliceOfN(rapid.Uint32Range(0, 200), 0, 30).Draw(t, "more")
			steps = append(steps, step{last.set.with(slices.Clone(more)), slices.Concat(last.added, more)})
		}
		for _, s := range steps {
			for key := range uint32(201) {
				if s.set.has(key) != slices.Contains(s.added, key) {
					t.Fatalf("after %v, has(%d) is %v", s.added, key, s.set.has(key))
				}
			}
			for i := 1; i < len(s.set); i++ {
				if len(s.set[i-1]) <= 2*len(s.set[i]) {
					t.Fatalf("slice %d has %d keys, and the next one %d", i-1, len(s.set[i-1]), len(s.set[i]))
				}
			}
		}
	})
}
