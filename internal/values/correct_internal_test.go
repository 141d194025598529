package values

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/record"
)

// corrected is the rule for two values on one topic, as the comment on corrections states it.
func corrected(earlier, later *record.Value) bool {
	if !later.At.After(earlier.At) || earlier.Event == later.Event || has(later.Kind, markTool) || has(earlier.Kind, markTool) {
		return false
	}
	if later.Author != earlier.Author {
		return has(later.Kind, markCue) && has(later.Kind, markIs) && has(earlier.Kind, markIs)
	}
	return has(later.Kind, markIs) && has(earlier.Kind, markIs) || has(later.Kind, markCue)
}

// What replaces a value is found without comparing each value with each other one: a long history may name ten thousand
// amounts in the same words.
func TestAValueIsReplacedByAnyLaterOneThatCorrectsIt(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		values := make([]record.Value, rapid.IntRange(0, 12).Draw(t, "n"))
		for i := range values {
			kind := kindMoney
			for _, mark := range []string{markIs, markCue, markTool} {
				if rapid.IntRange(0, 3).Draw(t, mark) < 2 && (mark != markTool || i%3 == 0) {
					kind += mark
				}
			}
			values[i] = record.Value{
				Text: fmt.Sprintf("budget $%d", i), Kind: kind, Author: rapid.SampledFrom([]string{"user", "agent", "other"}).Draw(t, "author"),
				Event: rapid.SampledFrom([]string{"", "e1", "e2", "e3"}).Draw(t, "event"), At: time.Unix(int64(rapid.IntRange(0, 4).Draw(t, "at")), 0),
			}
		}
		got := corrections(values)
		for i := range values {
			want := false
			for k := range values {
				want = want || corrected(&values[i], &values[k])
			}
			if got[i] != want {
				t.Fatalf("value %d of %+v: replaced %t, want %t", i, values, got[i], want)
			}
		}
	})
}
