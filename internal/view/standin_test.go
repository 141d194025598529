package view_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// told lists a view by IDs; a stand-in as the calls that it answers, with what it says.
func told(shown []*session.Event) (out []string) {
	for _, ev := range shown {
		if !view.IsStandIn(ev) {
			out = append(out, ev.ID)
			continue
		}
		text := ""
		for _, part := range ev.Content.Parts {
			says := "cut"
			if part.FunctionResponse.Response["error"] != "interrupted: the result is not known" {
				says = fmt.Sprint(part.FunctionResponse.Response["status"])
			}
			text += " " + part.FunctionResponse.ID + ":" + says
		}
		out = append(out, text[1:])
	}
	return out
}

func TestAnInterruptedCallIsAnswered(t *testing.T) {
	t.Parallel()
	const unknown = "unknown: no result has arrived yet"
	call := func(ids ...string) *ct.History { return h().User("i", "q").Call("i", "bot", "t", ids...) }
	for _, row := range []struct {
		name string
		h    *ct.History
		want []string
	}{
		{"while the turn may go on", call("c"), []string{"e1", "e2"}},
		{"when the user goes on", call("c").User("j", "q"), []string{"e1", "e2", "c:cut", "e3"}},
		{"and ever after", call("c").Turn("j", "bot", "q", "a").Turn("i", "bot", "q", "a"), []string{"e1", "e2", "c:cut", "e3", "e4", "e5", "e6"}},
		{"not when the same turn goes on", call("c").User("i", "q").Agent("j", "bot", "a"), []string{"e1", "e2", "e3", "e4"}},
		{"not when state changes", call("c").AddEvent(&session.Event{ID: "s", InvocationID: "j", Author: "user"}), []string{"e1", "e2", "s"}},
		{"parallel calls in one response", call("a", "b", "c").User("j", "q"), []string{"e1", "e2", "a:cut b:cut c:cut", "e3"}},
		{"beside an answered one", call("a", "b").Response("i", "bot", "t", "r", "a").User("j", "q"), []string{"e1", "e2", "b:cut", "e3", "e4"}},
		{"several calls", call("a").Call("i", "bot", "t", "b").User("j", "q").Call("j", "bot", "t", "c").User("k", "q"),
			[]string{"e1", "e2", "a:cut", "e3", "b:cut", "e4", "e5", "c:cut", "e6"}},
		{"a hand-over", h().User("i", "q").Call("i", "bot", "transfer_to_agent", "c").User("j", "q"), []string{"e1", "e2", "c:cut", "e3"}},
		{"until the response comes", call("c").User("j", "q").Response("i", "bot", "t", "r", "c"), []string{"e1", "e2", "e3", "e4"}},
		{"the user's answer to a long-running sibling is a message", call("a", "b").Long("b").Response("j", "user", "t", "r", "b"), []string{"e1", "e2", "a:cut", "e3"}},
		{"a branch that sees the message", h().Branch("p.a").Call("i", "bot", "t", "c").Branch("p").User("j", "q"), []string{"e1", "c:cut", "e2"}},
		{"not a branch that does not", h().Branch("p.a").Call("i", "bot", "t", "c").Branch("p.b").User("j", "q"), []string{"e1", "e2"}},
		{"no long-running call with its placeholder", call("c").Long("c").Response("i", "bot", "t", "pending", "c").User("j", "q"), []string{"e1", "e2", "e3", "e4"}},
		{"a long-running call cut off before that", call("c").Long("c").User("j", "q"), []string{"e1", "e2", "c:" + unknown, "e3"}},
		{"no call without an ID", call("").User("j", "q"), []string{"e1", "e2", "e3"}},
		{"an ID that is used again", call("1").User("j", "q").Call("j", "bot", "t", "1").Response("j", "bot", "t", "r", "1").User("k", "q"),
			[]string{"e1", "e2", "1:cut", "e3", "e4", "e5", "e6"}},
		{"not where a summary stands for it", call("c").Turn("j", "bot", "q", "a").Compact("r1", "e1", "e2"), []string{"r1", "e3", "e4"}},
	} {
		if adk.ResumesRuns { // a call that waits has none
			row.want = slices.DeleteFunc(row.want, func(said string) bool { return strings.HasSuffix(said, unknown) })
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			holds(t, row.h.Events)
			grows(t, row.h.Events)
			if got := told(view.Project(row.h.Events)); !slices.Equal(got, row.want) {
				t.Errorf("the view is %q, want %q", got, row.want)
			}
			if got := told(view.Project(row.h.Events)); !slices.Equal(got, row.want) {
				t.Errorf("FilteredEvents are %q, want %q", got, row.want)
			}
		})
	}
}

// A confirmation leaves two calls: the tool's, which has a placeholder, and ADK's own.
func TestACallThatAwaitsAConfirmationIsNotInterrupted(t *testing.T) {
	t.Parallel()
	h := h().User("i", "q").Call("i", "bot", "danger", "c1").Response("i", "bot", "danger", "needs a confirmation", "c1")
	h.Last().Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{"c1": {}}
	h.Call("i", "bot", toolconfirmation.FunctionCallName, "c2").Long("c2").User("j", "q")
	h.Last().Actions = session.EventActions{}
	holds(t, h.Events)
	if got := told(view.Project(h.Events)); !slices.Equal(got, []string{"e1", "e2", "e3", "e4", "e5"}) {
		t.Errorf("the view is %q", got)
	}
}

// ADK pairs the stand-in with the call, and a remote agent's context is found by it.
func TestAStandInIsLikeTheResponseThatNeverCame(t *testing.T) {
	t.Parallel()
	h := h().User("i", "q").Branch("p.a").Call("i", "bot", "lookup", "c")
	call := h.Last()
	call.CustomMetadata = map[string]any{"a2a:context_id": "x", "other": 1}
	h.Branch("").User("j", "q")
	shown := view.Project(h.Events)
	made := shown[2]
	if made.Author != "bot" || made.Branch != "p.a" || made.InvocationID != "i" || !made.Timestamp.Equal(call.Timestamp) ||
		made.Content.Role != genai.RoleUser || made.Content.Parts[0].FunctionResponse.Name != "lookup" || made.ID != "interrupted-e2" {
		t.Errorf("the stand-in is %+v", made)
	}
	if made.CustomMetadata["a2a:context_id"] != "x" || made.CustomMetadata["other"] != nil {
		t.Errorf("its metadata are %v", made.CustomMetadata)
	}
	if again := view.Project(h.Events)[2]; !reflect.DeepEqual(made, again) {
		t.Errorf("made twice it differs: %+v and %+v", made, again)
	}
	state := view.Inspect(h.Events)
	for _, ev := range state.View {
		if state.IsStored(ev) == view.IsStandIn(ev) {
			t.Errorf("event %s: stored %t", ev.ID, state.IsStored(ev))
		}
	}
}

// TestAStandInStaysTheSameEvent through everything that happens behind it, so that a prompt cache keeps
// hitting, and leaves the snapshots of before alone.
func TestAStandInStaysTheSameEvent(t *testing.T) {
	t.Parallel()
	history := h().Turn("g", "bot", "q", "a").User("i", "q").Call("i", "bot", "t", "c")
	v := view.New(slices.Clone(history.Events))
	before := v.Events()
	n := len(history.Events)
	history.Turn("j", "bot", "q", "a").Call("j", "bot", "t", "d").Turn("k", "bot", "q", "a").Compact("r1", "e1", "e2").Turn("l", "bot", "q", "a")
	var made *session.Event
	for _, ev := range history.Events[n:] {
		v.Append(ev)
		events := v.Events().Slice()
		k := slices.IndexFunc(events, func(ev *session.Event) bool { return ev.ID == "interrupted-e4" })
		if k < 0 || made != nil && events[k] != made {
			t.Fatalf("after %s the view is %q", ev.ID, told(events))
		}
		made = events[k]
	}
	if got := told(before.Slice()); !slices.Equal(got, []string{"e1", "e2", "e3", "e4"}) {
		t.Errorf("the snapshot became %q", got)
	}
	history.Response("i", "bot", "t", "at last", "c")
	v.Append(history.Last())
	if got := told(v.Events().Slice()); slices.Contains(got, "c:cut") || !slices.Contains(got, history.Last().ID) {
		t.Errorf("after the response the view is %q", got)
	}
}

// TestCallsThatAreAnsweredCostNothing: only a call that is left behind makes the view anew.
func TestCallsThatAreAnsweredCostNothing(t *testing.T) {
	t.Parallel()
	v := view.New(nil)
	history := h()
	for i := range 100 {
		inv := fmt.Sprint("i", i)
		history.User(inv, "q").Call(inv, "bot", "t", inv+"a", inv+"b").Response(inv, "bot", "t", "r", inv+"a", inv+"b").Agent(inv, "bot", "a")
	}
	for _, ev := range history.Events {
		v.Append(ev)
	}
	if _, generation := v.Version(); generation != 0 {
		t.Errorf("the view was made anew %d times", generation)
	}
	history.Call("x", "bot", "t", "cut").Agent("x", "bot", "a").User("y", "q").User("z", "q")
	for _, ev := range history.Events[len(history.Events)-4:] {
		v.Append(ev)
	}
	if _, generation := v.Version(); generation != 1 {
		t.Errorf("for one interrupted call the view was made anew %d times", generation)
	}
}
