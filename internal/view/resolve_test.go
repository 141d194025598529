package view_test

import (
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// two is a history of four turns, the first two of which are summarized apart.
func two() *ct.History {
	return turns(4).Compact("s1", "e1", "e2").Compact("s2", "e3", "e4").Amend(madeAt(20))
}

func absorbs(ids ...string) func(*record.Metadata) {
	return func(m *record.Metadata) { m.Absorbed = ids }
}

func TestAbsorbedRecordIsReplacedByTheOneThatAbsorbsIt(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"merge", two().Merge("m", "s1", "s2"), "m e5 e6 e7 e8"},
		{"chain of merges", two().Merge("m", "s1", "s2").Merge("n", "m"), "n e5 e6 e7 e8"},
		{"rolling summary", two().Compact("s3", "e5", "e6").Amend(absorbs("s1", "s2")), "s3 e7 e8"},
		{"one of two", two().Merge("m", "s1"), "m s2 e5 e6 e7 e8"},
		{"an absorber of another branch is ignored", two().Merge("m", "s1", "s2").Amend(func(m *record.Metadata) { m.Branch = "p" }), "s1 m s2 e5 e6 e7 e8"},
		{"an unknown record absorbed", two().Merge("m", "s1").Amend(absorbs("s1", "gone")), "m s2 e5 e6 e7 e8"},
		{"only unknown records absorbed", two().Merge("m", "s1").Amend(absorbs("gone")), "s1 m s2 e5 e6 e7 e8"},
		{"itself", two().Merge("m", "s1", "s2").Amend(absorbs("m", "s1", "s2")), "m e5 e6 e7 e8"},
		{"the merge stored before its parts", reordered(two().Merge("m", "s1", "s2"), 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "m e5 e6 e7 e8"},
	})
}

// reordered returns the history with its events in another order, as a backend may return ties.
func reordered(from *ct.History, order ...int) *ct.History {
	out := h()
	for _, i := range order {
		out.Events = append(out.Events, from.Events[i])
	}
	return out
}

func TestCircleOfAbsorptionLeavesAllOfItCurrent(t *testing.T) {
	t.Parallel()
	circle := func() *ct.History {
		return turns(4).Compact("s1", "e1", "e2").Amend(absorbs("s2")).Compact("s2", "e3", "e4").Amend(absorbs("s1"))
	}
	run(t, []row{
		{"of two", circle(), "s1 s2 e5 e6 e7 e8"},
		{"of two, beside a repeated window", circle().Compact("s3", "e5").Compact("s4", "e5").Amend(madeAt(90)), "s1 s2 s4 e6 e7 e8"},
		{"of three", turns(4).Compact("s1", "e1").Amend(absorbs("s2")).Compact("s2", "e2").Amend(absorbs("s3")).Compact("s3", "e3").Amend(absorbs("s1")), "s1 s2 s3 e4 e5 e6 e7 e8"},
		{"one of it absorbed from outside", circle().Compact("s3", "e5").Amend(absorbs("s1")).Amend(madeAt(90)), "s3 e6 e7 e8"},
		{"one of it absorbed by an earlier record", circle().Compact("s3", "e5").Amend(absorbs("s1")).Amend(madeAt(0)), "s2 s3 e6 e7 e8"},
		{"absorbed from outside", circle().Compact("m", "e5").Amend(absorbs("s1", "s2")), "m e6 e7 e8"},
	})
}

func TestLaterRecordForTheSameEventsReplacesTheEarlier(t *testing.T) {
	t.Parallel()
	gone := func(m *record.Metadata) { m.Covered = append(m.Covered, record.Ref{ID: "gone"}) }
	run(t, []row{
		{"equal coverage", turns(3).Compact("s1", "e1", "e2").Compact("s2", "e1", "e2").Amend(madeAt(50)), "s2 e3 e4 e5 e6"},
		{"equal coverage, the later is stored first", turns(3).Compact("s1", "e1", "e2").Amend(madeAt(50)).Compact("s2", "e1", "e2"), "s1 e3 e4 e5 e6"},
		{"equal coverage and time, the greater ID", turns(3).Compact("s2", "e1", "e2").Amend(madeAt(50)).Compact("s1", "e1", "e2").Amend(madeAt(50)), "s2 e3 e4 e5 e6"},
		{"superset", turns(3).Compact("s1", "e1", "e2").Compact("s2", "e1", "e2", "e3").Amend(madeAt(50)), "s2 e4 e5 e6"},
		{"earlier superset", turns(3).Compact("s1", "e1", "e2", "e3").Amend(madeAt(2)).Compact("s2", "e1", "e2"), "s1 s2 e4 e5 e6"},
		{"partial overlap", turns(3).Compact("s1", "e1", "e2").Compact("s2", "e2", "e3").Amend(madeAt(50)), "s1 s2 e4 e5 e6"},
		{"another branch", h().Branch("p.a").Turn("i", "bot", "q", "a").Branch("").Turn("i2", "bot", "q", "a").Compact("s1", "e1", "e2").
			Compact("s2", "e1", "e2").Amend(func(m *record.Metadata) { m.Branch = ""; m.CreatedAt = at(50) }), "s1 s2 e3 e4"},
		{"events not loaded", reordered(turns(3).Compact("s1", "e1", "e2").Compact("s2", "e1", "e2").Amend(madeAt(50)), 2, 3, 4, 5, 6, 7), "s2 e3 e4 e5 e6"},
		{"events not loaded, another branch", reordered(turns(3).Compact("s1", "e1", "e2").Compact("s2", "e1", "e2").Amend(func(m *record.Metadata) {
			m.Branch, m.CreatedAt = "p.b", at(50)
		}), 2, 3, 4, 5, 6, 7), "s1 s2 e3 e4 e5 e6"},
		{"an unresolved reference more", turns(3).Compact("s1", "e1").Amend(gone).Compact("s2", "e1").Amend(madeAt(50)), "s1 s2 e2 e3 e4 e5 e6"},
		{"two merges of the same pair", two().Merge("m", "s1", "s2").Merge("n", "s1", "s2").Amend(madeAt(60)), "n e5 e6 e7 e8"},
		{"two merges of the same pair, not loaded", reordered(two().Merge("m", "s1", "s2").Merge("n", "s1", "s2").Amend(madeAt(60)), 4, 5, 6, 7, 10, 11), "n e5 e6 e7 e8"},
		{"a merge made by a slow clock", two().Merge("m", "s1", "s2").Amend(madeAt(1)).Compact("s3", "e1", "e2", "e3", "e4").Amend(madeAt(60)), "s3 e5 e6 e7 e8"},
	})
}

// The absorbed record stands for events that are not loaded; a record that only repeats the window
// does not stand for them.
func TestRecordIsNotReplacedByOneThatLacksWhatItAbsorbed(t *testing.T) {
	t.Parallel()
	rolling := two().Compact("s3", "e5").Amend(absorbs("s1", "s2")).Compact("s4", "e5").Amend(madeAt(90))
	run(t, []row{
		{"all loaded", rolling, "s3 s4 e6 e7 e8"},
		{"only the active loaded", reordered(rolling, 5, 6, 7, 10, 11), "s3 s4 e6 e7 e8"},
	})
}

func TestSomeCompetingRecordStaysCurrent(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"the absorbed is later than its equal absorber", turns(3).Compact("c", "e1", "e2").Amend(madeAt(50)).Merge("m", "c").Amend(madeAt(9)), "m e3 e4 e5 e6"},
		{"and a third between them", turns(3).Compact("c", "e1", "e2").Amend(madeAt(50)).Merge("m", "c").Amend(madeAt(9)).
			Compact("e", "e1", "e2").Amend(madeAt(20)), "m e3 e4 e5 e6"},
	})
}
