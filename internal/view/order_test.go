package view_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

func TestSummariesInFrontAreOrderedByWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	begin := func(n int) func(*record.Metadata) { return func(m *record.Metadata) { m.StartTimestamp = at(n) } }
	run(t, []row{
		{"by start", turns(3).Compact("s2", "e3", "e4").Compact("s1", "e1", "e2"), "s1 s2 e5 e6"},
		{"then by when they were made", turns(3).Compact("s1", "e3").Amend(begin(0)).Amend(madeAt(9)).Compact("s2", "e1").Amend(begin(0)).Amend(madeAt(8)), "s2 s1 e2 e4 e5 e6"},
		{"then by ID", turns(3).Compact("s2", "e3").Amend(begin(0)).Amend(madeAt(9)).Compact("s1", "e1").Amend(begin(0)).Amend(madeAt(9)), "s1 s2 e2 e4 e5 e6"},
	})
}

func TestStoredEventsKeepTheBackendsOrder(t *testing.T) {
	t.Parallel()
	skewed := turns(3)
	skewed.Events[4].Timestamp = at(-100)
	run(t, []row{{"whatever their clocks say", skewed.Compact("s", "e1", "e2"), "s e3 e4 e5 e6"}})
}

// rich is a history with everything that changes a view.
func rich() *ct.History {
	h := turns(4).Compact("s1", "e1", "e2").Compact("s2", "e3", "e4").Amend(madeAt(30)).Merge("m", "s1", "s2").Amend(valued(600, "ORD-1", "ORD-2"))
	h.User("j", "q").Call("j", "bot", "t", "a", "b").Long("b").Response("j", "bot", "t", "r", "a", "b").Agent("j", "bot", "waiting")
	h.Compact("s3", "e5", "e6", "e12", "e13", "e14", "e15").Amend(madeAt(40)).Amend(valued(600, "ORD-3"))
	h.Branch("p.a").Agent("k", "a", "A").Agent("k", "a", "A").Compact("s4", "e17").Amend(valued(20, "ORD-4")).Branch("")
	h.User("l", "q").Response("l", "user", "t", "done", "b").Agent("l", "bot", "a")
	return h
}

// visible names what a view shows, in no order, with the same name on every backend.
func visible(shown []*session.Event) []string {
	out := make([]string, len(shown))
	for i, ev := range shown {
		out[i] = fmt.Sprintf("%s/%s/%d", ev.InvocationID, ev.Author, ev.Timestamp.UnixMicro())
	}
	slices.Sort(out)
	return out
}

func fronts(shown []*session.Event) (out []string) {
	for _, ev := range shown {
		if ev.InvocationID == "compaction-"+ev.ID {
			out = append(out, ev.ID)
		}
	}
	return out
}

// A view must not depend on the backend that the session lives in.
func TestViewIsTheSameFromEveryBackend(t *testing.T) {
	t.Parallel()
	want := view.Project(rich().Events)
	if !slices.Equal(fronts(want), []string{"m", "s3", "s4"}) {
		t.Fatalf("the history shows %v, so this test compares too little", ct.IDs(want))
	}
	each := func(change func(i int, ev *session.Event)) []*session.Event {
		out := rich().Events
		for i, ev := range out {
			copied := *ev
			change(i, &copied)
			out[i] = &copied
		}
		return out
	}
	nanos := each(func(i int, ev *session.Event) { ev.Timestamp = ev.Timestamp.Add(time.Duration(i) * time.Nanosecond) })
	byTime := func(a, b *session.Event) int { return cmp.Compare(a.Timestamp.UnixMicro(), b.Timestamp.UnixMicro()) }
	tied := rich().Events
	slices.Reverse(tied)
	slices.SortStableFunc(tied, byTime) // records are tied with the event before them
	for name, events := range map[string][]*session.Event{
		"ties reversed": tied,
		"IDs renamed":   each(func(i int, ev *session.Event) { ev.ID = fmt.Sprint("server-", i) }),
		"nanoseconds":   nanos,
		"IDs gone":      each(func(i int, ev *session.Event) { ev.ID = "" }),
		"only active ones loaded": slices.DeleteFunc(rich().Events, func(ev *session.Event) bool {
			return !record.Is(ev) && !slices.Contains(want, ev) && hiddenIn(want, ev)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := view.Project(events)
			if !slices.Equal(visible(got), visible(want)) {
				t.Errorf("the view shows\n%v, want\n%v", ct.IDs(got), ct.IDs(want))
			}
			if !slices.Equal(fronts(got), fronts(want)) {
				t.Errorf("summaries are %v, want %v", fronts(got), fronts(want))
			}
			if !slices.Equal(prose(got), prose(want)) || !strings.Contains(strings.Join(prose(got), ""), "ORD-1 | ORD-2 | ORD-3") {
				t.Errorf("summaries read %q, want %q", prose(got), prose(want))
			}
		})
	}
}

func hiddenIn(shown []*session.Event, ev *session.Event) bool {
	return !slices.ContainsFunc(shown, func(shown *session.Event) bool { return shown.ID == ev.ID })
}
