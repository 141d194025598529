package values_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
)

// Each would take many minutes if every character were read from the beginning of the text, or to its end.
func TestLongRunsOfNumeralsAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"三", "1年", "三1"} {
		t.Run(one, func(t *testing.T) {
			ev := said("user", strings.Repeat(one, 1<<20/len(one)), 0)
			if got := texts(values.Of([]*session.Event{ev}, nil, nil)); len(got) > 0 {
				t.Errorf("%.100q", got)
			}
		})
	}
}

func TestNumeralsWithoutAUnitHideNoneBehindThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"房号三零五，会议在五月六日": "五月 六日",
		"我们5月6号出发":      "5月6号",
		"三的三本小说":        "三本小说",
	} {
		got := texts(values.Of([]*session.Event{said("user", text, 0)}, nil, nil))
		if !slices.ContainsFunc(got, func(v string) bool { return strings.Contains(v, want) }) {
			t.Errorf("%s: %q lacks %s", text, got, want)
		}
	}
}
