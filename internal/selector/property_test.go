package selector_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/adk/session"
	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

func drawParams(t *rapid.T) selector.Params {
	p := selector.Params{
		Threshold: rapid.IntRange(1, 5).Draw(t, "threshold"),
		Overlap:   rapid.IntRange(0, 3).Draw(t, "overlap"),
		Retain:    rapid.IntRange(0, 10).Draw(t, "retain"),
		MaxTokens: rapid.SampledFrom([]int{0, 30, 100, 1000}).Draw(t, "max"),
		Cost:      sizeOf,
		Size:      sizeOf,
	}
	if rapid.Bool().Draw(t, "some run") {
		p.Running = running("1", "3", "5", "7")
	}
	if rapid.Bool().Draw(t, "some pinned") {
		p.Pin = pinnedByTest
	}
	return p
}

func pinnedByTest(ev *session.Event) bool { return sizeOf(ev) == 7 }

func drawSelection(t *rapid.T, h selector.Input, p selector.Params, branch string) selector.Selection {
	switch rapid.IntRange(0, 2).Draw(t, "door") {
	case 0:
		return selector.Invocations(h, p, branch)
	case 1:
		return selector.Tokens(h, p, branch)
	}
	return selector.Manual(h, p, branch, p.Overlap)
}

func TestNoWindowHoldsWhatMustStayRaw(t *testing.T) {
	t.Parallel()
	windows := 0
	testkit.CheckUntil(t, 1, func(t *rapid.T) {
		var h selector.Input
		if rapid.Bool().Draw(t, "stored") {
			h = viewOf(histories.Generate(40, func(k int) int { return rapid.IntRange(0, k-1).Draw(t, "pick") }))
		} else {
			h = newTape(generated(t)).history()
		}
		p := drawParams(t)
		tp := tapeOver(h)
		for range 6 {
			branch := rapid.SampledFrom([]string{"", "", "p.a", "p.b", adk.JoinLane("", "one")}).Draw(t, "in")
			before := slices.Clone(h.Events)
			sel := drawSelection(t, h, p, branch)
			if !slices.Equal(before, h.Events) {
				t.Fatal("the history was changed")
			}
			checkSelection(t, h, p, branch, sel)
			if !sel.Empty() {
				windows++
				tp.cover(sel)
				h = tp.history()
			}
		}
	}, enough(&windows))
}

// Selections that share what they have in common are those that each would be alone, in whatever order.
func TestSharedSelectionsAreAsTheyAreAlone(t *testing.T) {
	t.Parallel()
	windows := 0
	testkit.CheckUntil(t, 1, func(t *rapid.T) {
		h := newTape(generated(t)).history()
		p := drawParams(t)
		shared := p
		shared.Shared = &selector.Shared{}
		branches := []string{"", "p.a", "p.b"}
		for range 8 {
			part := h
			part.Events = h.Events[:rapid.IntRange(0, len(h.Events)).Draw(t, "part")]
			branch, keep := rapid.SampledFrom(branches).Draw(t, "in"), rapid.IntRange(0, 3).Draw(t, "keep")
			free := rapid.IntRange(0, 300).Draw(t, "free")
			chosen := func(p selector.Params) []any {
				p.Retain, p.Left = keep, keep == 0
				relief := selector.Relieve(part, p, branches, branch, free)
				relief.Selection = selector.Bare(relief.Selection)
				return []any{
					selector.Bare(selector.Invocations(part, p, branch)), selector.Bare(selector.Tokens(part, p, branch)),
					selector.Bare(selector.Manual(part, p, branch, keep)), relief, selector.Bare(selector.Tokens(h, p, branch)),
				}
			}
			alone := chosen(p)
			if got := chosen(shared); !reflect.DeepEqual(got, alone) {
				t.Fatalf("shared:\n%+v\nalone:\n%+v", got, alone)
			}
			if whole := alone[len(alone)-1].(selector.Selection); !whole.Empty() {
				windows++
			}
		}
	}, enough(&windows))
}

func checkSelection(t *rapid.T, h selector.Input, p selector.Params, branch string, sel selector.Selection) {
	if sel.Empty() != (sel.Reason != "") {
		t.Fatalf("%d events, reason %q", len(sel.Events), sel.Reason)
	}
	why := raw(h, p)
	units := adk.GroupUnits(h.Events)
	cost, last := 0, -1
	for _, ev := range sel.Events {
		i := slices.Index(h.Events, ev)
		name := fmt.Sprintf("event %d", i)
		if i <= last {
			t.Fatalf("%s: not in view, twice, or out of order", name)
		}
		last = i
		cost += p.Cost(ev)
		if adk.Lane(ev) != branch {
			t.Fatalf("%s: of branch %q", name, adk.Lane(ev))
		}
		if h.Covered(ev) {
			t.Fatalf("%s: covered already", name)
		}
		if why[i] != "" {
			t.Fatalf("%s: must stay raw: %s", name, why[i])
		}
		for _, j := range units.Of(i) {
			mate := h.Events[j]
			if adk.Lane(mate) == branch && !h.Covered(mate) && !slices.Contains(sel.Events, mate) {
				t.Fatalf("%s: without event %d of its unit", name, j)
			}
		}
	}
	if p.MaxTokens > 0 && cost > p.MaxTokens {
		t.Fatalf("%d tokens, limit %d", cost, p.MaxTokens)
	}
	if sel.After != nil {
		checkRounds(t, h, sel)
	}
}

// checkRounds checks a window of tool rounds: all its events are one agent's, and it is behind the
// latest event of somebody else that the agent sees.
func checkRounds(t *rapid.T, h selector.Input, sel selector.Selection) {
	after := slices.Index(h.Events, sel.After)
	last := slices.Index(h.Events, sel.Events[len(sel.Events)-1])
	if sel.After.Author == sel.Agent || after >= slices.Index(h.Events, sel.Events[0]) || sel.Agent == "" || sel.Agent == "user" {
		t.Fatalf("rounds of %q behind event %d by %q", sel.Agent, after, sel.After.Author)
	}
	for i, ev := range h.Events[:last+1] {
		switch {
		case ev == nil:
		case slices.Contains(sel.Events, ev):
			if ev.Author != sel.Agent {
				t.Fatalf("event %d by %q in rounds of %q", i, ev.Author, sel.Agent)
			}
		case i > after && ev.Author != sel.Agent && adk.Visible(sel.Branch, adk.Lane(ev)) && identified(ev):
			t.Fatalf("event %d by %q lies between the rounds and event %d, which they stand behind", i, ev.Author, after)
		}
	}
}

// Selecting and covering windows in any order comes to an end, and then only events that must stay
// raw are left.
func TestEverythingElseIsSummarizedInTheEnd(t *testing.T) {
	t.Parallel()
	covered := 0
	testkit.CheckUntil(t, 1, func(t *rapid.T) {
		p := drawParams(t)
		p.Retain, p.MaxTokens = 0, 0
		tp := newTape(generated(t))
		tp.exhaust(t, p)
		covered += len(tp.covered)
		h := tp.history()
		why := raw(h, p)
		units := adk.GroupUnits(h.Events)
		for i, ev := range h.Events {
			if ev == nil || h.Covered(ev) || why[i] != "" || !says(ev) {
				continue
			}
			if !unfinished(h, p, units, i) {
				t.Fatalf("event %d is left for no reason: by %q in %q, branch %q", i, ev.Author, ev.InvocationID, adk.Lane(ev))
			}
		}
	}, enough(&covered))
}

func TestTheTriggerIsNeverDueBeforeItSaid(t *testing.T) {
	t.Parallel()
	due := 0
	testkit.CheckUntil(t, 1, func(t *rapid.T) {
		all := generated(t)
		for i, ev := range all {
			if ev != nil {
				ev.ID = fmt.Sprint("e", i) // so that it stays known what a record was written through
			}
		}
		p := drawParams(t)
		branch := rapid.SampledFrom([]string{"", "", "p.a"}).Draw(t, "in")
		tp := newTape(nil)
		missing, begun, latest := 0, 0, ""
		for i, ev := range all {
			// A caller that sees one event at a time counts an invocation again if two alternate, or if an
			// event without an invocation is between two of its own.
			if ev != nil && says(ev) && ev.InvocationID != latest {
				latest = ev.InvocationID
				begun++
			}
			tp.events = all[:i+1]
			sel := selector.Invocations(tp.history(), p, branch)
			switch {
			case sel.Reason != selector.NotDue:
				if missing > 1 && begun < missing {
					t.Fatalf("event %d: due after %d more invocations, %d were said to be missing", i, begun, missing)
				}
				due++
				if !sel.Empty() {
					tp.cover(sel)
				}
				missing, begun = 0, 0
			case sel.Missing < 1:
				t.Fatalf("event %d: not due, and %d missing", i, sel.Missing)
			case begun >= missing: // what was said first binds: nobody looks again before that
				missing, begun = sel.Missing, 0
			}
		}
	}, enough(&due))
}

// enough reports whether a property has met its case a hundred times.
func enough(met *int) func() error {
	return func() error {
		if *met < 100 {
			return fmt.Errorf("the case was met only %d times", *met)
		}
		return nil
	}
}
