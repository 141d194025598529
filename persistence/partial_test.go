package persistence_test

import (
	"slices"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
)

// A late answer makes the view show its call again. The record that covers the call is not loaded,
// and without it the next window would cover the call twice.
func TestACallThatIsBroughtBackIsKnownToBeCovered(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).LongCall("i1", "bot", "t", "a").Turns(3, "bot").
		Compact("r1", "e1", "e2").Compact("r2", "e3", "e4").Merge("r3", "r1", "r2").
		Response("i9", "user", "t", "r", "a")
	s := stores(t, h)
	part := partialView(active(t, s, "s")).State()
	full := view.Inspect(view.Collect(get(t, s, "s").Events()))
	compared := 0
	for _, ev := range full.View {
		for _, p := range part.View {
			if p.ID != ev.ID {
				continue
			}
			if full.Covered(ev) {
				compared++
			}
			if full.Covered(ev) != part.Covered(p) {
				t.Errorf("%s is covered: %v, in the partial view %v", p.ID, full.Covered(ev), part.Covered(p))
			}
		}
	}
	if compared == 0 {
		t.Error("no covered event is shown, so the test proves nothing")
	}
}

func TestTheFormerNewestMessageGoesWithTheNextOne(t *testing.T) {
	t.Parallel()
	s := stores(t, (&ct.History{}).Turns(3, "bot").Compact("r1", "e1", "e2", "e3", "e4", "e5").Merge("r2", "r1"))
	few := active(t, s, "s")
	v := partialView(few)
	next := text("next", "q")
	v.Append(next)
	appendTo(t, s, few, next)
	got, want := ct.IDs(v.Events().Slice()), ct.IDs(view.Project(view.Collect(get(t, s, "s").Events())))
	if !slices.Equal(got, want) {
		t.Errorf("the view shows %v, want %v", got, want)
	}
}
