package oracle_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/record"
)

// within puts the newest event of a history into an isolation scope. ADK v1 reads the events of a file that v2 wrote so,
// with the scope in the branch.
func within(h *ct.History, scope string) *ct.History {
	adk.SetLane(h.Last(), adk.JoinLane(h.Last().Branch, scope))
	return h
}

// scoped is a history in which an agent works in the scopes c1 and c2, both of branch p.
func scoped() *ct.History {
	h := (&ct.History{}).User("i", "q").Branch("p")
	for _, scope := range []string{"c1", "c1", "c2", "c2"} {
		within(h.Agent("i", "worker", "Something."), scope)
	}
	return h.Branch("").Agent("i", "bot", "a")
}

// shown is pick with each summary in the lane of its record.
func shown(events []*session.Event, ids ...string) []*session.Event {
	out := pick(events, ids...)
	for _, ev := range events {
		m, err := record.From(ev)
		if err != nil || m == nil {
			continue
		}
		for _, entry := range out {
			if entry.ID == m.RecordID {
				adk.SetLane(entry, m.Branch)
			}
		}
	}
	return out
}

func TestCheckTellsScopesApart(t *testing.T) {
	t.Parallel()
	leaked := func(view []*session.Event, lane string) []*session.Event {
		adk.SetLane(view[0], lane)
		return view
	}
	healthy, forged := scoped().Compact("s", "e2", "e3"), scoped().Compact("s", "e2", "e3", "e4")
	twins := within((&ct.History{}).User("i", "q").Call("i", "a", "t", "c"), "c1")
	within(twins.Call("i", "b", "t", "c"), "c2")
	within(twins.Response("i", "a", "t", "r", "c"), "c1")
	within(twins.Response("i", "b", "t", "r", "c"), "c2")
	twins.Agent("i", "bot", "a").Compact("s", "e2", "e4")
	calls := within((&ct.History{}).User("i", "q").Call("i", "a", "t", "c"), "c1").User("j", "q")
	overtaken := within(within((&ct.History{}).User("i", "q").Call("i", "a", "t", "c"), "c1").User("j", "q"), "c1")
	standIn := response(calls.Events[1], "c")
	for _, r := range []struct {
		name         string
		events, view []*session.Event
		want         string // "" for no violation
	}{
		{"a summary of a scope", healthy.Events, shown(healthy.Events, "s", "e1", "e4", "e5", "e6"), ""},
		{"a summary outside of its scope", healthy.Events, leaked(shown(healthy.Events, "s", "e1", "e4", "e5", "e6"), "p"), "it leaks"},
		{"a summary in another scope", healthy.Events, leaked(shown(healthy.Events, "s", "e1", "e4", "e5", "e6"), adk.JoinLane("p", "c2")), "it leaks"},
		{"an event of another scope hidden", forged.Events, shown(forged.Events, "s", "e1", "e5", "e6"), "event e4 is hidden"},
		{"calls of one ID in two scopes", twins.Events, shown(twins.Events, "s", "e1", "e3", "e5", "e6"), ""},
		{"the user outside of the scope does not overtake its call", calls.Events, calls.Events, ""},
		{"a stand-in for a call that is not overtaken", calls.Events, []*session.Event{calls.Events[0], calls.Events[1], standIn, calls.Events[2]}, "which may still return"},
		{"the user in the scope overtakes its call", overtaken.Events, overtaken.Events, "was interrupted"},
		{"a stand-in for it", overtaken.Events, []*session.Event{overtaken.Events[0], overtaken.Events[1], response(overtaken.Events[1], "c"), overtaken.Events[2]}, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			err := oracle.Check(r.events, r.view)
			if (err == nil) != (r.want == "") || err != nil && !strings.Contains(err.Error(), r.want) {
				t.Errorf("Check says %v, want %q", err, r.want)
			}
		})
	}
}

// A call that gives a task to an agent stays open. So do the calls beside it, and other calls of the same name.
func TestACallThatGivesATaskStaysOpen(t *testing.T) {
	t.Parallel()
	if adk.Major == 1 {
		t.Skip("ADK v1 gives no tasks")
	}
	h := (&ct.History{}).User("i", "q").Call("i", "bot", "worker", "c1", "c2").Agent("i", "worker", "Begun.")
	within(h, "c1").User("j", "q").Call("j", "bot", "worker", "c3").User("k", "q").Agent("k", "bot", "a")
	if err := oracle.Check(h.Events, h.Events); err != nil {
		t.Error(err)
	}
	for i, id := range map[int]string{1: "c2", 4: "c3"} {
		view := append(append(append([]*session.Event{}, h.Events[:i+1]...), response(h.Events[i], id)), h.Events[i+1:]...)
		if err := oracle.Check(h.Events, view); err == nil || !strings.Contains(err.Error(), "which may still return") {
			t.Errorf("with a stand-in for %s, Check says %v", id, err)
		}
	}
}

// response is what a view shows for a call without a response.
func response(call *session.Event, id string) *session.Event {
	ev := &session.Event{ID: "interrupted-" + call.ID, InvocationID: call.InvocationID, Author: call.Author, Timestamp: call.Timestamp}
	ev.Content = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: id, Response: map[string]any{"error": "interrupted"}}}}}
	adk.SetLane(ev, adk.Lane(call))
	return ev
}
