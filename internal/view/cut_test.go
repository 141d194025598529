package view_test

import (
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// short is the response of every event that a shortener cuts.
var short = map[string]any{"output": "cut"}

// shortener cuts the responses of two events in three, as a layer does, and counts its calls.
type shortener map[*session.Event]int

func (s shortener) cut(ev *session.Event) *session.Event {
	s[ev]++
	return shortened(ev)
}

// shortened is the form of an event: the same every time, but a new copy.
func shortened(ev *session.Event) *session.Event {
	if ev == nil || len(adk.FunctionResponses(ev)) == 0 || len(ev.ID)%3 == 0 || view.IsStandIn(ev) {
		return ev
	}
	form := *ev
	content := *ev.Content
	form.Content = &content
	content.Parts = slices.Clone(content.Parts)
	for i, part := range content.Parts {
		if part != nil && part.FunctionResponse != nil {
			response := *part.FunctionResponse
			response.Response = short
			content.Parts[i] = &genai.Part{FunctionResponse: &response}
		}
	}
	return &form
}

// allShortened is the view of a whole history, cut from scratch.
func allShortened(events []*session.Event) []*session.Event {
	out := slices.Clone(view.Project(events))
	for i, ev := range out {
		out[i] = shortened(ev)
	}
	return out
}

// growsCut appends one event after the other to a view that is shown through a shortener, and compares it
// each time with the projection of the whole history, cut from scratch. A form stays the same event for
// as long as it is shown, and is made once.
func growsCut(t tester, events []*session.Event) {
	t.Helper()
	calls, elsewhere := shortener{}, false
	v := view.New(nil).Through(func(ev *session.Event) *session.Event {
		if elsewhere {
			return shortened(ev)
		}
		return calls.cut(ev)
	})
	type moment struct{ now, then []*session.Event }
	var moments []moment
	var base *view.View
	before, were := map[*session.Event]*session.Event{}, []*session.Event(nil)
	for i, ev := range events {
		v.Append(ev)
		got, want := v.Events().Slice(), allShortened(events[:i+1])
		if !sameShown(got, want) {
			t.Fatalf("after %q the cut view is %q, want %q", ids(events[:i+1]), ids(got), ids(want))
		}
		state := v.State()
		shown := map[*session.Event]*session.Event{}
		for k, stored := range state.View {
			if state.Shown(stored) != got[k] {
				t.Fatalf("the form of %s at %d is another event than the view shows", stored.ID, k)
			}
			if form := before[stored]; form != nil && form != got[k] {
				t.Fatalf("after %q the form of %s is another event than before", ids(events[:i+1]), stored.ID)
			}
			if state.IsStored(stored) {
				shown[stored] = got[k]
				if calls[stored] > 1 && !slices.Contains(were, stored) {
					t.Fatalf("%s was cut %d times", stored.ID, calls[stored])
				}
			} else if calls[stored] > 0 {
				t.Fatalf("%s is not stored, and was passed to the shortener", stored.ID)
			}
		}
		for stored := range before { // hidden: when it is shown again it may be cut again
			if shown[stored] == nil {
				were = append(were, stored)
			}
		}
		before = shown
		moments = append(moments, moment{got, slices.Clone(got)})
		if i%4 == 0 {
			base = v.Fork()
		}
		if ev == nil && i == 0 {
			continue
		}
		elsewhere = true
		resumed := base.Continue(fixed(events[:i+1]))
		if got := resumed.Events().Slice(); !sameShown(got, want) {
			t.Fatalf("from a base of %d events the cut view of %q is %q, want %q", base.Len(), ids(events[:i+1]), ids(got), ids(want))
		}
		resumed.Append((&ct.History{}).Response("astray", "bot", "t", "r", "astray").Last())
		base.Fork().Append((&ct.History{}).Response("astray", "bot", "t", "r", "astray").Last())
		elsewhere = false
	}
	for i, m := range moments {
		if !slices.Equal(m.now, m.then) {
			t.Errorf("the snapshot after event %d changed from %q to %q", i, ids(m.then), ids(m.now))
		}
	}
}

// sameShown compares views by what they hold.
func sameShown(a, b []*session.Event) bool {
	return slices.EqualFunc(a, b, func(a, b *session.Event) bool {
		if a == b || same([]*session.Event{a}, []*session.Event{b}) {
			return true
		}
		return a != nil && b != nil && a.ID == b.ID && a.Timestamp.Equal(b.Timestamp) && isShort(a) && isShort(b)
	})
}

func isShort(ev *session.Event) bool {
	responses := adk.FunctionResponses(ev)
	return len(responses) > 0 && !slices.ContainsFunc(responses, func(r *genai.FunctionResponse) bool { return r.Response["output"] != "cut" })
}

func TestACutViewKeepsItsPointersAcrossCompactions(t *testing.T) {
	t.Parallel()
	hist := h().Turn("a", "bot", "q", "a").User("i", "q").Call("i", "bot", "t", "c").Response("i", "bot", "t", "long", "c").Agent("i", "bot", "a")
	calls := shortener{}
	v := view.New(slices.Clone(hist.Events)).Through(calls.cut)
	form := v.Events().At(4)
	if !isShort(form) || form.ID != "e5" {
		t.Fatalf("the view shows %v, want the short form of e5", form)
	}
	v.Append(hist.Record("s", "e1", "e2"))
	for _, other := range []*view.View{v, v.Fork()} {
		if got := other.Events(); got.At(3) != form {
			t.Errorf("after a compaction the view is %q, and its fourth event another one than before", ids(got.Slice()))
		}
	}
	if n := calls[hist.Events[4]]; n != 1 || len(calls) != 1 {
		t.Errorf("%d calls for the event, %d events in all; want 1 and 1: only events with responses are cut", n, len(calls))
	}
	if raw := v.Raw(); raw[4] != hist.Events[4] {
		t.Error("the stored event was replaced")
	}
}

// Not parallel: AllocsPerRun counts what the whole process allocates.
func TestReadingACutViewCostsNothing(t *testing.T) {
	calls := shortener{}
	v := view.New(tooled(50)).Through(calls.cut)
	v.Events()
	before := len(calls)
	if n := testing.AllocsPerRun(100, func() { v.Events() }); n > 0 || len(calls) != before {
		t.Errorf("%v allocations and %d more calls per read, want none", n, len(calls)-before)
	}
}
