package audit_test

import (
	"fmt"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/selector"
)

// TestAnInterruptedCallIsNoDamage: the view answers the call, and that is neither a stored event
// nor a summary.
func TestAnInterruptedCallIsNoDamage(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(2, "bot").User("i", "q").Call("i", "bot", "t", "c").User("j", "again").Agent("j", "bot", "a").Compact("r1", "e1", "e2")
	path := built(t, h)
	f := open(t, path)
	s := find(t, f, "")
	view, err := f.View(t.Context(), s, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	_, size, err := f.Size(t.Context(), s)
	if err != nil || size.ViewEvents != view.Events || size.Summaries != 1 {
		t.Errorf("size %+v, %v; want one summary among %d", size, err, view.Events)
	}
	if made := view.Entries[5]; made.Seq != 0 || made.Record != nil || made.ID != "interrupted-e6" {
		t.Errorf("behind the call stands %+v", made)
	}
	if found, texts, _ := verified(t, path, 5); len(found) != 0 {
		t.Errorf("%v\n%s", found, texts)
	}
}

// TestACallThatWasGivenUpIsNoDamage: more calls wait than are kept raw, and the oldest was
// summarized.
func TestACallThatWasGivenUpIsNoDamage(t *testing.T) {
	t.Parallel()
	for n, damage := range map[int]bool{selector.MaxWaiting: true, selector.MaxWaiting + 1: false} {
		h := &ct.History{}
		for i := range n {
			inv := fmt.Sprint("i", i)
			h.User(inv, "q").LongCall(inv, "bot", "t", fmt.Sprint("c", i)).Agent(inv, "bot", "I wait.")
		}
		found, texts, _ := verified(t, built(t, h.Turns(2, "bot").Compact("r1", "e1", "e2", "e3")), 5)
		if (len(found) > 0) != damage {
			t.Errorf("%d calls, the oldest hidden: %v\n%s", n, found, texts)
		}
	}
}
