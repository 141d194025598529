package promptsize_test

import (
	"testing"

	"github.com/adk-go-ext/longsession/internal/promptsize"
)

func TestFirstChanged(t *testing.T) {
	t.Parallel()
	type names = []string
	for _, c := range []struct {
		what        string
		before, now names
		part        int
		want        string
	}{
		{"a text changed", names{"base", "skills"}, names{"base", "skills"}, 1, "skills"},
		{"one was added at the end", names{"base"}, names{"base", "skills"}, 1, "skills"},
		{"one was added in the middle", names{"base", "skills"}, names{"base", "memories", "skills"}, 1, "memories"},
		{"one was taken from the end", names{"base", "skills"}, names{"base"}, 1, "skills"},
		{"one was taken from the middle", names{"base", "memories", "skills"}, names{"base", "skills"}, 1, "memories"},
		{"nobody names the parts", nil, nil, 0, ""},
	} {
		if got := promptsize.FirstChanged(c.before, c.now, c.part); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
