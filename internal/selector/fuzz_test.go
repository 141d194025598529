package selector_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// FuzzSelect makes every kind of selection from generated histories, and stores each window as the
// service would, until no selection returns a window.
func FuzzSelect(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		data := make([]byte, 500)
		for i := range data {
			data[i] = byte(random.UintN(256))
		}
		f.Add(uint8(random.UintN(60)), data)
	}
	f.Add(uint8(0), []byte{})
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		summarizeAll(t, int(n)%60, func(k int) int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b) % k
		})
	})
}

func TestSelectionsOfAnyHistoryEndInAGoodView(t *testing.T) {
	t.Parallel()
	windows, rounds := 0, 0
	random := rand.New(rand.NewPCG(7, 8))
	for range 400 {
		w, r := summarizeAll(t, random.IntN(60), random.IntN)
		windows, rounds = windows+w, rounds+r
	}
	if windows < 500 || rounds == 0 {
		t.Errorf("only %d windows and %d of tool rounds were stored", windows, rounds)
	}
}

// doors are the kinds of selections: the two triggers, and by hand with the overlap or one turn
// kept.
var doors = []func(selector.Input, selector.Params, string) selector.Selection{
	selector.Invocations,
	selector.Tokens,
	func(h selector.Input, p selector.Params, branch string) selector.Selection {
		return selector.Manual(h, p, branch, p.Overlap)
	},
	func(h selector.Input, p selector.Params, branch string) selector.Selection {
		return selector.Manual(h, p, branch, 1)
	},
}

// summarizeAll stores all windows of a history of n events, one after the other. It returns the
// number of windows, and the number of those over tool rounds.
func summarizeAll(t *testing.T, n int, pick func(k int) int) (windows, rounds int) {
	t.Helper()
	parked := map[*session.Event]bool{}
	p := selector.Params{
		Threshold: pick(6),
		Overlap:   pick(4),
		Retain:    pick(8),
		MaxTokens: []int{0, 0, 40, 200}[pick(4)],
		Cost:      partsOf,
		Size:      partsOf,
	}
	runs, pins := pick(2) == 0, pick(2) == 0
	p.Running = func(id string) bool { return runs && (id == "i2" || id == "i4" || id == "i9") }
	p.Pin = func(ev *session.Event) bool { return parked[ev] || pins && ev.ID == "e7" }
	events := histories.Generate(n, pick)
	for range 2*n + 1 {
		h := viewOf(events)
		sel := offered(t, h, p, pick(len(doors)))
		if sel.Empty() {
			return windows, rounds
		}
		ev := recordOf(events, sel, windows, parked)
		if ev == nil {
			continue
		}
		windows++
		if sel.After != nil {
			rounds++
		}
		more := append(slices.Clip(events), ev)
		checkStored(t, h, more, sel)
		events = more
	}
	t.Fatalf("no end to the windows: %d over %d events", windows, n)
	return windows, rounds
}

// offered checks the selections of every door in every branch. It returns the first window, counted
// from door from.
func offered(t *testing.T, h selector.Input, p selector.Params, from int) selector.Selection {
	t.Helper()
	var first selector.Selection
	before := slices.Clone(h.Events)
	why, units := raw(h, p), adk.GroupUnits(h.Events)
	for _, branch := range []string{"", "p.a", "p.b", "p", adk.JoinLane("", "one"), adk.JoinLane("p.a", "two")} {
		for k := range doors {
			door := (from + k) % len(doors)
			sel := doors[door](h, p, branch)
			if again := doors[door](h, p, branch); !reflect.DeepEqual(selector.Bare(sel), selector.Bare(again)) {
				t.Fatalf("door %d in %q selects %q, and then %q", door, branch, shown(sel), shown(again))
			}
			if !slices.Equal(before, h.Events) {
				t.Fatalf("door %d changed the history", door)
			}
			if sel.Empty() != (sel.Reason != "") || sel.Branch != branch {
				t.Fatalf("%d events of %q, reason %q", len(sel.Events), sel.Branch, sel.Reason)
			}
			checkWindow(t, h, p, why, units, sel)
			if door == 1 {
				checkRetained(t, h, p, sel)
			}
			if first.Empty() {
				first = sel
			}
		}
	}
	return first
}

// checkWindow checks the rules that hold for every window.
func checkWindow(t *testing.T, h selector.Input, p selector.Params, why []string, units *adk.Units, sel selector.Selection) {
	t.Helper()
	cost, last := 0, -1
	for _, ev := range sel.Events {
		i := slices.Index(h.Events, ev)
		switch {
		case i <= last:
			t.Fatalf("event %d: not in view, twice, or out of order", i)
		case adk.Lane(ev) != sel.Branch:
			t.Fatalf("event %d of branch %q in a window of %q", i, adk.Lane(ev), sel.Branch)
		case h.Covered(ev):
			t.Fatalf("event %d is covered already", i)
		case why[i] != "":
			t.Fatalf("event %d must stay raw: %s", i, why[i])
		case sel.After != nil && (ev.Author != sel.Agent || i < slices.Index(h.Events, sel.After)):
			t.Fatalf("event %d by %q among the rounds of %q", i, ev.Author, sel.Agent)
		}
		for _, j := range units.Of(i) {
			mate := h.Events[j]
			if adk.Lane(mate) == sel.Branch && !h.Covered(mate) && !slices.Contains(sel.Events, mate) {
				t.Fatalf("event %d goes without event %d of its unit", i, j)
			}
		}
		last = i
		cost += p.Cost(ev)
	}
	if p.MaxTokens > 0 && cost > p.MaxTokens {
		t.Fatalf("%d tokens, the summarizer reads %d", cost, p.MaxTokens)
	}
}

// checkRetained checks that the token trigger leaves the newest events of the branch raw.
func checkRetained(t *testing.T, h selector.Input, p selector.Params, sel selector.Selection) {
	t.Helper()
	left := p.Retain
	for i := len(h.Events) - 1; i >= 0 && left > 0; i-- {
		if adk.Lane(h.Events[i]) != sel.Branch {
			continue
		}
		if left--; slices.Contains(sel.Events, h.Events[i]) {
			t.Fatalf("event %d is one of the newest %d", i, p.Retain)
		}
	}
}

// recordOf makes the record of a window, as the service does. It leaves out events that the stored
// references do not name. It returns nil if no event is left.
func recordOf(events []*session.Event, sel selector.Selection, n int, parked map[*session.Event]bool) *session.Event {
	m := &record.Metadata{
		RecordID: fmt.Sprint("w", n), Kind: record.KindSummary, Trigger: record.TriggerManual, Branch: sel.Branch,
		CreatedAt: histories.Epoch.AddDate(1, 0, n), Through: record.RefTo(sel.Through), Agent: sel.Agent,
		CompactedContentJSON: `{"parts":[{"text":"a summary"}]}`,
	}
	if sel.After != nil {
		m.After = record.RefTo(sel.After)
	}
	index := record.NewIndex(events)
	for _, ev := range sel.Events {
		ref := record.RefTo(ev)
		ref.Timestamp = ref.Timestamp.UTC()
		if ref.Timestamp.Year() > 9999 { // more than the format holds
			ref.Timestamp = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
		}
		if i, ok := index.Find(ref); !ok || events[i] != ev {
			parked[ev] = true
			continue
		}
		m.Covered = append(m.Covered, ref)
		m.StartTimestamp, m.StartInvocationID = ref.Timestamp, ref.InvocationID
		m.EndTimestamp, m.EndInvocationID = ref.Timestamp, ref.InvocationID
	}
	if len(m.Covered) == 0 {
		return nil
	}
	for _, a := range sel.Absorb {
		m.Absorbed = append(m.Absorbed, a.RecordID)
	}
	return histories.RecordEvent(m, sel.Through.Timestamp)
}

// checkStored checks that the view with the record of a window is valid, and that it hides only
// events that some record stands for.
func checkStored(t *testing.T, before selector.Input, events []*session.Event, sel selector.Selection) {
	t.Helper()
	state := view.Inspect(events)
	if err := compactiontest.Check(events, state.View); err != nil {
		t.Fatalf("after %q in %q: %v", shown(sel), sel.Branch, err)
	}
	for i, ev := range before.Events {
		if !slices.Contains(state.View, ev) && !slices.Contains(sel.Events, ev) && !before.Covered(ev) {
			t.Fatalf("event %d is hidden, and not by %q", i, shown(sel))
		}
	}
	m, err := record.From(events[len(events)-1])
	if err != nil || m == nil {
		t.Fatalf("the record of %q is malformed: %v", shown(sel), err)
	}
	if !slices.ContainsFunc(state.Current, func(l *record.Metadata) bool { return l.RecordID == m.RecordID }) {
		t.Fatalf("the summary of %q is not shown", shown(sel))
	}
}

// partsOf is a size that grows with the content of an event.
func partsOf(ev *session.Event) int {
	if ev.Content == nil {
		return 3
	}
	return 6 + 5*len(ev.Content.Parts)
}
