package selector_test

import (
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// failer is the common part of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// tape is a session whose windows are marked as covered by pointer. The stored format cannot cover
// events without an ID of their own.
type tape struct {
	events  []*session.Event
	covered map[*session.Event]bool
	live    []*record.Metadata
	windows int
}

func newTape(events []*session.Event) *tape {
	return &tape{events: events, covered: map[*session.Event]bool{}}
}

// tapeOver makes a tape of a view, with its covered events.
func tapeOver(h selector.Input) *tape {
	t := newTape(h.Events)
	for _, ev := range h.Events {
		if ev != nil && h.Covered(ev) {
			t.covered[ev] = true
		}
	}
	t.live = slices.Clone(h.Current)
	return t
}

// history is what a service would select from: a covered event is in view as long as its unit is.
func (t *tape) history() selector.Input {
	h := selector.Input{Current: t.live, Covered: func(ev *session.Event) bool { return t.covered[ev] }}
	units := adk.GroupUnits(t.events)
	for i, ev := range t.events {
		inView := ev != nil && !t.covered[ev]
		for _, j := range units.Of(i) {
			inView = inView || !t.covered[t.events[j]]
		}
		if inView {
			h.Events = append(h.Events, ev)
		}
	}
	return h
}

// left are the events that no window has covered.
func (t *tape) left() []*session.Event {
	return slices.DeleteFunc(slices.Clone(t.events), func(ev *session.Event) bool { return ev == nil || t.covered[ev] })
}

// cover stores the record of a window.
func (t *tape) cover(sel selector.Selection) {
	t.windows++
	m := &record.Metadata{RecordID: fmt.Sprintf("r%d", t.windows), Branch: sel.Branch, Agent: sel.Agent, CompactedTokens: 5}
	for _, ev := range sel.Events {
		t.covered[ev] = true
		m.EndInvocationID = ev.InvocationID
	}
	m.Through = record.RefTo(sel.Through)
	if sel.After != nil {
		m.After = record.RefTo(sel.After)
	}
	t.live = slices.DeleteFunc(t.live, func(l *record.Metadata) bool { return slices.Contains(sel.Absorb, l) })
	t.live = append(t.live, m)
}

// drain covers windows of the invocation trigger until there is none. It returns the windows and
// the last, empty selection.
func (t *tape) drain(tb failer, p selector.Params, branch string) ([]selector.Selection, selector.Selection) {
	tb.Helper()
	var windows []selector.Selection
	for range len(t.events) + 1 {
		sel := selector.Invocations(t.history(), p, branch)
		if sel.Empty() {
			return windows, sel
		}
		windows = append(windows, sel)
		t.cover(sel)
	}
	tb.Fatalf("no end to the windows: %d over %d events", len(windows), len(t.events))
	return nil, selector.Selection{}
}

// exhaust covers the windows of all kinds of selections in all branches, with no recent events
// kept.
func (t *tape) exhaust(tb failer, p selector.Params) {
	tb.Helper()
	p.Retain = 0
	for range 2*len(t.events) + 2 {
		some := false
		for _, branch := range t.branches() {
			for _, sel := range []selector.Selection{selector.Tokens(t.history(), p, branch), selector.Manual(t.history(), p, branch, 0)} {
				fresh := slices.ContainsFunc(sel.Events, func(ev *session.Event) bool { return !t.covered[ev] })
				if fresh {
					t.cover(sel)
					some = true
					break
				}
			}
		}
		if !some {
			return
		}
	}
	tb.Fatalf("no end to the windows: %d over %d events", t.windows, len(t.events))
}

func (t *tape) branches() []string {
	var out []string
	for _, ev := range t.events {
		if ev != nil && !slices.Contains(out, adk.Lane(ev)) {
			out = append(out, adk.Lane(ev))
		}
	}
	return out
}

// kept lists the events that are raw when everything else has been summarized.
func kept(tb failer, p selector.Params, words ...string) string {
	tb.Helper()
	tp := newTape(script(words...))
	tp.exhaust(tb, p)
	return listed(tp.left())
}

// viewOf is what a service selects from after real records, in the view's order.
func viewOf(events []*session.Event) selector.Input {
	state := view.Inspect(events)
	h := selector.Input{Covered: state.Covered, Current: state.Current}
	for _, ev := range state.View {
		if state.IsStored(ev) {
			h.Events = append(h.Events, ev)
		}
	}
	return h
}
