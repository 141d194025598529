package compaction

import (
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
)

// A job looks while the next turn begins. Were that turn forgotten, the trigger would be looked at one
// turn late, or, at the end of a conversation, never.
func TestATurnThatBeginsDuringALookCountsForTheNext(t *testing.T) {
	t.Parallel()
	var m meter
	h := (&ct.History{}).Turns(5, "bot")
	begins := func(n int) bool { return m.begins(h.Events[n-1]) }
	for n := 1; n <= 8; n++ {
		begins(n)
	}
	looked := m.looking() // it sees four turns: one is missing
	begins(9)
	looked(1)
	if !begins(10) {
		t.Error("the fifth turn has ended, and nobody looks")
	}
}

// The fifth question has been asked and not answered yet: only its answer is missing.
func TestATurnThatIsUnderWayDuringALookCountsForTheNext(t *testing.T) {
	t.Parallel()
	var m meter
	h := (&ct.History{}).Turns(5, "bot")
	for n := 1; n <= 9; n++ {
		m.begins(h.Events[n-1])
	}
	looked := m.looking()
	looked(1)
	if !m.begins(h.Events[9]) {
		t.Error("the fifth turn has ended, and nobody looks")
	}
}

func TestBranchesAreFoundAsTheViewGrows(t *testing.T) {
	t.Parallel()
	var m meter
	h := (&ct.History{}).Turns(2, "bot").Branch("a").Agent("inv2", "a", "x")
	v := view.New(h.Events)
	want := func(want int) {
		t.Helper()
		if got := m.branches(v); len(got) != want || got[0] != "" {
			t.Errorf("branches %q, want %d", got, want)
		}
	}
	want(2)
	v.Append((&ct.History{}).Branch("b").Agent("inv2", "b", "y").Last())
	want(3)
	v.AppendRecord(h.Record("s", "e5"))
	want(3)
	want(3)
}
