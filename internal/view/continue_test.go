package view_test

import (
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
)

func TestAViewContinuesItsOwnSessionOnly(t *testing.T) {
	t.Parallel()
	h := turns(4).Compact("s", "e1", "e2")
	base := view.New(h.Events)
	if base.Len() != 9 || base.Continue(fixed(h.Events)) == nil {
		t.Fatalf("a view of %d events does not continue with its own session", base.Len())
	}
	reversed := turns(4).Events
	reversed[0], reversed[1] = reversed[1], reversed[0]
	for name, events := range map[string]fixed{
		"another session":     turns(5).Events,
		"fewer events":        h.Events[:8],
		"other events":        append(fixed{}, reversed...),
		"one came in between": append(append(append(fixed{}, h.Events[:4]...), (&ct.History{}).User("x", "q").Last()), h.Events[4:]...),
	} {
		if base.Continue(events) != nil {
			t.Errorf("%s: taken for the same", name)
		}
	}
	if base.Continue(nil) != nil || view.New(nil).Continue(fixed{}) != nil {
		t.Error("nothing begins with nothing")
	}
}
