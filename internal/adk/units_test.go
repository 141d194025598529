package adk_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

func h() *ct.History { return &ct.History{} }

// units renders the units of a history as lists of event IDs, in the order of their first events.
func units(events []*session.Event) string {
	u := adk.GroupUnits(events)
	out := ""
	for i := range events {
		members := u.Of(i)
		if len(members) == 0 || members[0] != i {
			continue
		}
		var in []*session.Event
		for _, j := range members {
			in = append(in, events[j])
		}
		out += fmt.Sprint(ct.IDs(in))
	}
	return out
}

// open lists the events whose unit waits for an answer.
func open(events []*session.Event) string {
	u := adk.GroupUnits(events)
	var in []*session.Event
	for i, ev := range events {
		if u.Open(i) {
			in = append(in, ev)
		}
	}
	return fmt.Sprint(ct.IDs(in))
}

func TestResponseBelongsToTheNearestEarlierCallOfItsID(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name string
		h    *ct.History
		want string
	}{
		{"no calls", h().Turns(2, "bot"), ""},
		{"one pair", h().User("i", "q").Call("i", "bot", "t", "c").Response("i", "bot", "t", "r", "c"), "[e2 e3]"},
		{"a reused ID", h().Call("i", "bot", "t", "1").Response("i", "bot", "t", "r", "1").Call("j", "bot", "t", "1").Response("j", "bot", "t", "r", "1"), "[e1 e2][e3 e4]"},
		{"a second answer", h().Call("i", "bot", "t", "1").Response("i", "bot", "t", "r", "1").Response("j", "bot", "t", "r", "1"), "[e1 e2 e3]"},
		{"parallel siblings in two answers", h().Call("i", "bot", "t", "a", "b").Response("i", "bot", "t", "r", "b").Response("i", "bot", "t", "r", "a"), "[e1 e2 e3]"},
		{"one answer to two calls", h().Call("i", "bot", "t", "a").Call("i", "bot", "t", "b").Response("i", "bot", "t", "r", "a", "b"), "[e1 e2 e3]"},
		{"the same branch first", h().Branch("p.a").Call("i", "a", "t", "1").Branch("p.b").Call("i", "b", "t", "1").Branch("p.a").Response("i", "a", "t", "r", "1"), "[e1 e3][e2]"},
		{"the user's answer has no branch", h().Branch("p.a").LongCall("i", "a", "t", "1").Branch("").Response("j", "user", "t", "r", "1"), "[e1 e2]"},
		{"a response before its call", h().Response("i", "bot", "t", "r", "c").Call("i", "bot", "t", "c"), "[e1 e2]"},
		{"a response before two calls", h().Response("i", "bot", "t", "r", "c").Call("i", "bot", "t", "c").Call("j", "bot", "t", "c"), "[e1 e3][e2]"},
		{"a response without a call", h().Response("i", "bot", "t", "r", "c").Turns(1, "bot"), "[e1]"},
		{"without IDs", h().Call("i", "bot", "t", "").Response("i", "bot", "t", "r", "").Call("i", "bot", "t", "").Response("i", "bot", "t", "r", ""), "[e1 e2][e3 e4]"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := units(r.h.Events); got != r.want {
				t.Errorf("units are %q, want %q", got, r.want)
			}
		})
	}
}

func TestUnitIsOpenUntilItIsTrulyAnswered(t *testing.T) {
	t.Parallel()
	asked := func() *ct.History { return h().LongCall("i", "bot", "t", "c") }
	for _, r := range []struct {
		name string
		h    *ct.History
		want string
	}{
		{"answered", h().Call("i", "bot", "t", "c").Response("i", "bot", "t", "r", "c"), "[]"},
		{"unanswered", h().User("i", "q").Call("i", "bot", "t", "c").Agent("j", "bot", "a"), "[e2]"},
		{"unanswered, and the user goes on in the same invocation", h().Call("i", "bot", "t", "c").User("i", "q"), "[e1]"},
		{"unanswered, and the user goes on in another branch", h().Branch("p.a").Call("i", "bot", "t", "c").Branch("p.b").User("j", "q"), "[e1]"},
		{"interrupted", h().Call("i", "bot", "t", "c").Turns(1, "bot"), "[]"},
		{"interrupted, and then the user went on in both invocations", h().Call("i", "bot", "t", "c").User("j", "q").User("i", "q"), "[]"},
		{"interrupted beside an answered one", h().Call("i", "bot", "t", "a", "b").Response("i", "bot", "t", "r", "a").User("j", "q"), "[]"},
		{"interrupted beside a long-running one", h().Call("i", "bot", "t", "a", "b").Long("b").User("j", "q"), "[e1]"},
		{"an ID-less call of a turn that is over", h().Call("i", "bot", "t", "").Response("i", "bot", "t", "r", "").User("j", "q"), "[]"},
		{"two calls of one ID in one event", h().Call("i", "bot", "t", "1", "1").Response("i", "bot", "t", "r", "1"), "[]"},
		{"one of two parallel calls", h().Call("i", "bot", "t", "a", "b").Response("i", "bot", "t", "r", "a"), "[e1 e2]"},
		{"the earlier of two calls of one ID", h().Call("i", "bot", "t", "1").Call("j", "bot", "t", "1").Response("j", "bot", "t", "r", "1"), "[e1]"},
		{"an ID-less call, whatever comes", h().Call("i", "bot", "t", "").Response("i", "bot", "t", "r", ""), "[e1 e2]"},
		{"a placeholder is no answer", asked().Response("i", "bot", "t", "pending", "c"), "[e1 e2]"},
		{"an answer in a later invocation is", asked().Response("i", "bot", "t", "pending", "c").Response("j", "bot", "t", "r", "c"), "[]"},
		{"the user's answer is", asked().Response("i", "user", "t", "r", "c"), "[]"},
		{"a long-running call beside an ordinary one", h().Call("i", "bot", "t", "a", "b").Long("b").Response("i", "bot", "t", "r", "a", "b"), "[e1 e2]"},
		{"a credential request", h().Call("i", "bot", "adk_request_credential", "c").Response("i", "bot", "adk_request_credential", "r", "c"), "[e1 e2]"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := open(r.h.Events); got != r.want {
				t.Errorf("open units are %q, want %q", got, r.want)
			}
		})
	}
}

// confirm adds the events that ADK stores when the tool call c1 waits for a person: a refusal that
// names c1, and a call c2 that asks for the confirmation. Some backends keep only one of the two.
func confirm(h *ct.History, invocation, c1, c2 string, requested, argument bool) *ct.History {
	h.Call(invocation, "bot", "danger", c1).Response(invocation, "bot", "danger", "needs confirmation", c1)
	if requested {
		h.Last().Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{c1: {}}
	}
	h.LongCall(invocation, "bot", toolconfirmation.FunctionCallName, c2)
	if argument {
		h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"originalFunctionCall": map[string]any{"id": c1, "name": "danger"}}
	}
	return h
}

func TestConfirmationHoldsBothCallsOpen(t *testing.T) {
	t.Parallel()
	approve := func(h *ct.History) *ct.History {
		return h.Response("j", "user", toolconfirmation.FunctionCallName, "yes", "c2")
	}
	done := func(h *ct.History) *ct.History { return approve(h).Response("j", "bot", "danger", "done", "c1") }
	for _, r := range []struct {
		name string
		h    *ct.History
		want string
	}{
		{"asked", confirm(h(), "i", "c1", "c2", true, true), "[e1 e2 e3]"},
		{"asked, known from the event's actions", confirm(h(), "i", "c1", "c2", true, false), "[e1 e2 e3]"},
		{"asked, known from the request's arguments", confirm(h(), "i", "c1", "c2", false, true), "[e1 e2 e3]"},
		{"approved, not yet run", approve(confirm(h(), "i", "c1", "c2", true, true)), "[e1 e2]"},
		{"done", done(confirm(h(), "i", "c1", "c2", true, true)), "[]"},
		{"a reused ID is a call of its own", done(confirm(h(), "i", "c1", "c2", true, true)).Call("k", "bot", "t", "c1").Response("k", "bot", "t", "r", "c1"), "[]"},
		{"an earlier call of a reused ID too", confirm(h().Call("h", "bot", "t", "c1").Response("h", "bot", "t", "r", "c1"), "i", "c1", "c2", true, true), "[e3 e4 e5]"},
		{"asked before the call is seen", swap(confirm(h(), "i", "c1", "c2", false, true), 0, 2), "[e3 e2 e1]"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := open(r.h.Events); got != r.want {
				t.Errorf("open units are %q, want %q", got, r.want)
			}
		})
	}
}

func swap(h *ct.History, i, j int) *ct.History {
	h.Events[i], h.Events[j] = h.Events[j], h.Events[i]
	return h
}

func TestDamagedEventsAreTolerated(t *testing.T) {
	t.Parallel()
	broken := []*session.Event{
		nil,
		{},
		{LLMResponse: model.LLMResponse{Content: &genai.Content{}}},
		{LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{nil, {}}}}},
		{LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{Name: toolconfirmation.FunctionCallName}}}}}},
		{LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{
			ID: "x", Name: toolconfirmation.FunctionCallName, Args: map[string]any{"originalFunctionCall": (*genai.FunctionCall)(nil)},
		}}}}}},
		{LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{}}}}}},
	}
	u := adk.GroupUnits(broken)
	for i := range broken {
		if u.Of(i) == nil && u.Open(i) {
			t.Errorf("event %d is open and in no unit", i)
		}
	}
	if adk.FunctionCalls(nil) != nil || adk.FunctionResponses(nil) != nil {
		t.Error("a nil event has calls or responses")
	}
	empty := adk.GroupUnits(nil)
	empty.Each(func([]int) { t.Error("an empty history has a unit") })
}

func TestEachNamesEveryMemberOnce(t *testing.T) {
	t.Parallel()
	events := h().Call("i", "bot", "t", "a", "b").Response("i", "bot", "t", "r", "a").Turns(1, "bot").Call("j", "bot", "t", "c").Events
	var seen []int
	adk.GroupUnits(events).Each(func(members []int) {
		if !slices.IsSorted(members) {
			t.Errorf("members %v are not in order", members)
		}
		seen = append(seen, members...)
	})
	slices.Sort(seen)
	if want := []int{0, 1, 4}; !slices.Equal(seen, want) {
		t.Errorf("members are %v, want %v", seen, want)
	}
}

// A session may have any number of calls that nobody answers. Grouping must look at each event
// once.
func TestManyPendingCallsCostLinearTime(t *testing.T) {
	t.Parallel()
	pending := func(n int) []*session.Event {
		h := h()
		for i := range n {
			h.LongCall("i", "bot", "t", fmt.Sprint("c", i))
		}
		return h.Response("i", "bot", "t", "r", "c0").Events
	}
	cost := func(n int) time.Duration {
		events, best := pending(n), time.Hour
		for range 5 {
			start := time.Now()
			adk.GroupUnits(events)
			best = min(best, time.Since(start))
		}
		return best
	}
	// A busy machine can slow down any one measurement; quadratic time would show in each of them.
	var small, large time.Duration
	for range 10 {
		if small, large = cost(1_000), cost(10_000); large <= 50*small {
			return
		}
	}
	t.Errorf("ten times the calls take %v instead of %v", large, small)
}

func BenchmarkGroup(b *testing.B) {
	h := h()
	for i := range 2_500 {
		h.User("i", "q").Call("i", "bot", "t", fmt.Sprint(i)).Response("i", "bot", "t", "r", fmt.Sprint(i)).Agent("i", "bot", "a")
	}
	b.ReportAllocs()
	for b.Loop() {
		adk.GroupUnits(h.Events)
	}
}

// TestAScopeIsReadOnlyByItself: ADK v2 compares isolation scopes exactly, unlike branches.
func TestAScopeIsReadOnlyByItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reader, event string
		want          bool
	}{
		{"", "\x1ftask", false}, {"\x1ftask", "", false}, {"\x1ftask", "\x1ftask", true}, {"\x1ftask", "\x1fother", false},
		{"par.a\x1ftask", "par\x1ftask", true}, {"par.a\x1ftask", "\x1ftask", true}, {"\x1ftask", "par.a\x1ftask", true},
		{"par.a\x1ftask", "par.b\x1ftask", false}, {"par.aa\x1ftask", "par.a\x1ftask", false}, {"par.a", "par.a\x1ftask", false},
	} {
		if got := adk.Visible(c.reader, c.event); got != c.want {
			t.Errorf("an agent in %q reads an event of %q: %v, want %v", c.reader, c.event, got, c.want)
		}
	}
}
