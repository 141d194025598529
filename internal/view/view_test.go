package view_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// Appending to what Project returns must not write into the caller's history.
func TestAppendingToAViewLeavesTheHistoryAlone(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]*session.Event{"nothing compacted": turns(2).Events, "compacted": turns(2).Compact("s", "e1").Events} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := events[len(events)-1]
			_ = append(view.Project(events[:len(events)-1]), &session.Event{ID: "mine"})
			if events[len(events)-1] != last {
				t.Error("an event of the history was replaced")
			}
		})
	}
}

func TestUncompactedHistoryIsItsOwnView(t *testing.T) {
	t.Parallel()
	events := turns(3).Events
	if shown := view.Project(events); &shown[0] != &events[0] || len(shown) != len(events) {
		t.Error("a history without records was copied")
	}
}

func TestRecordOfAnotherSessionHandleIsAddedOnce(t *testing.T) {
	t.Parallel()
	h := turns(3)
	rec, same, other := h.Record("s", "e1", "e2"), h.Record("s", "e1", "e2"), h.Record("s2", "e3", "e4")
	v := view.New(slices.Clone(h.Events))
	for _, ev := range []*session.Event{rec, same, rec, other, nil, h.Events[0], {LLMResponse: metadata("{")}} {
		v.AppendRecord(ev)
	}
	if got, want := ids(v.Events().Slice()), "s s2 e5 e6"; got != want {
		t.Errorf("view is %q, want %q", got, want)
	}
	if n := len(v.Raw()); n != 8 {
		t.Errorf("view holds %d events, want 8: six and two records", n)
	}
	if n := len(v.Current()); n != 2 {
		t.Errorf("%d records are current, want 2", n)
	}
}

// A provider's prompt cache compares text, our own bookkeeping compares pointers: neither may see a
// summary change while no record comes or goes.
func TestSummaryEventsStayTheSameBetweenCompactions(t *testing.T) {
	t.Parallel()
	h := turns(3).Compact("s", "e1", "e2")
	v := view.New(slices.Clone(h.Events))
	first := v.Events().At(0)
	for name, ev := range map[string]*session.Event{
		"a turn":                        {ID: "n1", Author: "user"},
		"an event with a covered ID":    {ID: "e1", Author: "bot", Timestamp: at(99)},
		"another record":                h.Record("s2", "e3", "e4"),
		"a call's response, unexpected": (&ct.History{}).Response("x", "bot", "t", "r", "c").Last(),
	} {
		v.Append(ev)
		if got := v.Events().At(0); got != first {
			t.Errorf("after %s the summary is another event: %v", name, got.ID)
		}
	}
}

// Not parallel: AllocsPerRun counts what the whole process allocates.
func TestNothingNewCostsNothing(t *testing.T) {
	v := view.New(rich().Events)
	v.Events()
	if n := testing.AllocsPerRun(100, func() { v.Events() }); n != 0 {
		t.Errorf("Events allocates %v times with nothing new", n)
	}
}

// Not parallel, for the same reason.
func TestEventAddedCostsNothingOfTheHistory(t *testing.T) {
	h := turns(2_000)
	for i := range 20 {
		h.Compact(fmt.Sprint("s", i), fmt.Sprintf("e%d", 2*i+1), fmt.Sprintf("e%d", 2*i+2))
	}
	v := view.New(slices.Clip(h.Events))
	more := turns(400).Events
	v.Append(more[0]) // makes room once
	i := 0
	if n := testing.AllocsPerRun(300, func() { i++; v.Append(&session.Event{ID: "new", Author: "bot", Timestamp: more[i].Timestamp}) }); n > 2 {
		t.Errorf("an event costs %v allocations", n)
	}
}

func TestStateTellsWhatTheViewIsMadeOf(t *testing.T) {
	t.Parallel()
	h := after(h().Turn("i", "bot", "q", "a").User("j", "q").Call("j", "bot", "t", "c").Response("j", "bot", "t", "r", "c"))
	h.Compact("s", "e1", "e2").Compact("r", "e4").AddEvent(&session.Event{ID: "bad", LLMResponse: metadata("{")})
	state := view.Inspect(h.Events)
	if got, want := ids(state.View), "s r e3 e4 e5 e6 e7 e8 e9"; got != want {
		t.Fatalf("view is %q, want %q", got, want)
	}
	var current []string
	for _, m := range state.Current {
		current = append(current, m.RecordID)
		if m.Covered != nil {
			t.Errorf("record %s keeps its references", m.RecordID)
		}
	}
	if !slices.Equal(current, []string{"s", "r"}) || state.Unreadable != 1 || state.Stored != 12 {
		t.Errorf("state has %v current, %d unreadable, %d stored", current, state.Unreadable, state.Stored)
	}
	if m := state.Summary(state.View[0]); m == nil || m.RecordID != "s" || state.Summary(state.View[2]) != nil {
		t.Errorf("the first event is the summary of %v", m)
	}
	if !state.Covered(h.Events[3]) || state.Covered(h.Events[4]) || state.Covered(h.Events[0]) {
		t.Error("only e4 is covered and shown for the sake of its response")
	}
	for i, want := range []bool{true, true, false, true, false} {
		if state.CoveredAt(i) != want {
			t.Errorf("event %d is covered: %v", i, !want)
		}
	}
}

// Readers and writers of one view run in different goroutines of a turn.
func TestViewIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	h := turns(50)
	v := view.New(nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, ev := range h.Events {
			v.Append(ev)
		}
	})
	wg.Go(func() {
		for i := range 10 {
			v.AppendRecord(h.Record(fmt.Sprint("s", i), "e1"))
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 200 {
				events := v.Events()
				n := 0
				for range events.All() {
					n++
				}
				if n != events.Len() {
					t.Errorf("snapshot of %d events yields %d", events.Len(), n)
				}
				v.State()
				_ = append(v.Raw(), nil)
				_ = append(events.Slice(), nil)
			}
		})
	}
	wg.Wait()
	if got := v.Events().Slice(); got[0].InvocationID != "compaction-s0" && len(v.Raw()) != 110 || slices.Contains(v.Raw(), nil) {
		t.Errorf("view holds %d events and begins with %q", len(v.Raw()), got[0].ID)
	}
}

func TestCheckpointStandsWhereASummaryWould(t *testing.T) {
	t.Parallel()
	h := turns(3).Compact("s", "e1", "e2").Amend(func(m *record.Metadata) { m.Kind = record.KindCheckpoint })
	run(t, []row{{"a checkpoint", h.Compact("s2", "e3", "e4"), "s s2 e5 e6"}})
}

// A late answer brings back a call that a record hides. Whoever measures only what is new at the end of
// the view would miss it.
func TestAHiddenEventThatComesBackIsAChange(t *testing.T) {
	t.Parallel()
	history := h().User("i", "q").LongCall("i", "bot", "t", "c").Compact("s", "e1", "e2").Turn("j", "bot", "q", "a")
	v := view.New(slices.Clone(history.Events))
	shown, before := v.Version()
	if got := ids(shown.Slice()); got != "s e4 e5" {
		t.Fatalf("the view is %q", got)
	}
	v.Append(history.Response("k", "user", "t", "r", "c").Last())
	shown, after := v.Version()
	if got := ids(shown.Slice()); got != "s e2 e4 e5 e6" {
		t.Errorf("with the answer the view is %q", got)
	}
	if after == before {
		t.Error("the view has an old event again and the same generation")
	}
}

// A stand-in answers an older event, so what was measured of the view before is measured again.
func TestAStandInAtTheEndIsAChange(t *testing.T) {
	t.Parallel()
	history := h().User("i", "q").Call("i", "bot", "t", "c")
	v := view.New(slices.Clone(history.Events))
	_, before := v.Version()
	v.Append(history.User("j", "q").Last())
	shown, after := v.Version()
	if got := ids(shown.Slice()); got != "e1 e2 interrupted-e2 e3" || after == before {
		t.Errorf("the view is %q, generation %d after %d", got, after, before)
	}
}

// To lay a view out costs as much as it has events: a long history that is summarized at once must not cost that for each
// of its records.
func TestRecordsInARowAreLaidOutOnce(t *testing.T) {
	t.Parallel()
	h := turns(40)
	v := view.New(slices.Clone(h.Events))
	_, before := v.Version()
	fork := v.Fork()
	for i := range 10 {
		covered := []string{fmt.Sprintf("e%d", 4*i+1), fmt.Sprintf("e%d", 4*i+2)}
		h.Compact(fmt.Sprint("s", i), covered...)
		v.AppendRecord(h.Last())
		if !v.Shows(fmt.Sprint("s", i)) || !v.CoveredAt([]int{4 * i})[0] || v.CoveredAt([]int{4*i + 2})[0] {
			t.Errorf("record %d does not count before the view is read", i)
		}
		if i == 4 {
			fork = v.Fork()
		}
	}
	shown, after := v.Version()
	if after != before+1 {
		t.Errorf("ten records laid the view out %d times, want 1", after-before)
	}
	if got, want := ids(shown.Slice()), ids(view.Project(h.Events)); got != want {
		t.Errorf("view is %q, want %q", got, want)
	}
	if got, want := ids(fork.Events().Slice()), ids(view.Project(h.Events[:len(h.Events)-5])); got != want {
		t.Errorf("a fork in between is %q, want %q", got, want)
	}
}
