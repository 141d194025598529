package values_test

import (
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
)

// A size is one value, with its unit.
func TestASizeIsOneValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The sheet is 170 x 240, please, and 3 x 4 windows.": "3 x 4 windows",
		"The room is 3 x 4 m.":                               "room 3 x 4 m",
		"The room is 5 m wide.":                              "room 5 m",
	} {
		if got := texts(values.Of([]*session.Event{said("user", text, 0)}, nil, nil)); !slices.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", text, got, want)
		}
	}
}
