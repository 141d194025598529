package toolresult_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/toolresult"
)

func TestDefaultLimitsAreThoseOfTheZeroValue(t *testing.T) {
	t.Parallel()
	for _, readable := range []bool{false, true} {
		zero, err := toolresult.New(toolresult.Config{Readable: readable})
		if err != nil {
			t.Fatal(err)
		}
		written, err := toolresult.New(toolresult.Config{Limits: toolresult.DefaultLimits(), Readable: readable})
		if err != nil {
			t.Fatal(err)
		}
		shortened := 0
		for _, text := range []string{"short", strings.Repeat("a line\n", 300), strings.Repeat("x", 5000), strings.Repeat("x ", 9000)} {
			response := map[string]any{"output": text}
			want, cut, changed := zero.Response("t", response)
			got, otherCut, otherChanged := written.Response("t", response)
			if !reflect.DeepEqual(got, want) || cut != otherCut || changed != otherChanged {
				t.Errorf("readable %v, %d bytes: %v, want %v", readable, len(text), otherCut, cut)
			}
			if changed {
				shortened++
			}
		}
		if shortened < 2 {
			t.Errorf("readable %v: %d results are shortened: the test looks in the wrong place", readable, shortened)
		}
	}
}
