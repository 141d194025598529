package selector_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

func callIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("c%d", i)
	}
	return ids
}

// hostileHistories are histories whose size grows with n, of shapes that only an attacker or a
// broken agent makes.
var hostileHistories = map[string]func(n int) []*session.Event{
	"pending calls in one turn": func(n int) []*session.Event {
		h := (&compactiontest.History{}).User("i", "Go on.")
		for _, id := range callIDs(n) {
			h.LongCall("i", "agent", "tool", id)
		}
		return h.Agent("i", "agent", "I wait for all of them.").Turns(9, "agent").Events
	},
	"a pending call in each turn": func(n int) []*session.Event {
		h := &compactiontest.History{}
		for i, id := range callIDs(n) {
			inv := fmt.Sprint("i", i)
			h.User(inv, "Go on.").LongCall(inv, "agent", "tool", id).Agent(inv, "agent", "I wait.")
		}
		return h.Events
	},
	"parallel calls answered one by one": func(n int) []*session.Event {
		h := (&compactiontest.History{}).User("i", "Go on.").Call("i", "agent", "tool", callIDs(n)...)
		for _, id := range callIDs(n) {
			h.Response("i", "agent", "tool", "ok", id)
		}
		return h.Agent("i", "agent", "Done.").Turns(9, "agent").Events
	},
	"parallel calls half answered": func(n int) []*session.Event {
		h := (&compactiontest.History{}).User("i", "Go on.").Call("i", "agent", "tool", callIDs(n)...)
		return h.Response("i", "agent", "tool", "ok", callIDs(n/2)...).Turns(60, "agent").Events
	},
	"rounds of one turn": func(n int) []*session.Event {
		h := (&compactiontest.History{}).User("i", "Go on.")
		for _, id := range callIDs(n) {
			h.Call("i", "agent", "tool", id).Response("i", "agent", "tool", "ok", id)
		}
		return h.Events
	},
	"rounds of two agents by turns, and then another branch": func(n int) []*session.Event {
		h := (&compactiontest.History{}).User("i", "Go on.")
		for i, id := range callIDs(n) {
			agent := []string{"writer", "critic"}[i%2]
			h.Call("i", agent, "tool", id).Response("i", agent, "tool", "ok", id)
		}
		h.Branch("other")
		for _, id := range callIDs(n) {
			h.Call("i", "agent", "tool", id).Response("i", "agent", "tool", "ok", id)
		}
		return h.Events
	},
}

// TestWorkOfASelectionGrowsWithTheHistoryOnly: selections are made in the middle of turns. A
// selection calls each of its callers' functions a fixed number of times for each event.
func TestWorkOfASelectionGrowsWithTheHistoryOnly(t *testing.T) {
	t.Parallel()
	for name, build := range hostileHistories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 300
			small, chosen := asked(build(n))
			large, chosenOfMore := asked(build(4 * n))
			if chosen == 0 || chosenOfMore < chosen {
				t.Fatalf("%d events selected of n, %d of 4n: the test shows nothing", chosen, chosenOfMore)
			}
			if large > 5*small {
				t.Errorf("%d questions about a history of n, %d of 4n", small, large)
			}
		})
	}
}

// asked counts the calls of the callers' functions that selections of every kind make for a
// history.
func asked(events []*session.Event) (questions, selected int) {
	p := defaults()
	p.Retain = 4
	p.Size = func(*session.Event) int { questions++; return 6 }
	p.Cost = func(*session.Event) int { questions++; return 1 }
	p.Pin = func(*session.Event) bool { questions++; return false }
	p.Running = func(string) bool { questions++; return false }
	h := selector.Input{Events: events, Covered: func(*session.Event) bool { questions++; return false }}
	for _, branch := range []string{"", "other"} {
		for _, sel := range []selector.Selection{
			selector.Invocations(h, p, branch), selector.Tokens(h, p, branch), selector.Manual(h, p, branch, 1),
		} {
			selected += len(sel.Events)
		}
	}
	return questions, selected
}

// TestWhatAnOpenCallHoldsIsNotRendered: thousands of calls may be pending, with megabytes of
// arguments, and the service checks the session at the end of every turn.
func TestWhatAnOpenCallHoldsIsNotRendered(t *testing.T) {
	t.Parallel()
	h := (&compactiontest.History{}).User("i", "Go on.").Call("i", "agent", "tool", callIDs(100)...).Long("c99")
	for _, id := range callIDs(99) {
		h.Response("i", "agent", "tool", "ok", id)
	}
	h.Turns(20, "agent")
	p, rendered := defaults(), 0
	p.MaxTokens = 1000
	p.Cost = func(ev *session.Event) int {
		rendered++
		if n := indexOf(h.Events, ev.ID); n > 0 && n <= 100 {
			t.Errorf("%s is rendered", ev.ID)
		}
		return 1
	}
	check(t, "window", shown(selector.Invocations(selector.Input{Events: h.Events}, p, "")), "e1 e102-e137")
	if rendered != 1+2*18 {
		t.Errorf("%d events rendered", rendered)
	}
}

// TestHalfAnsweredCallsAreSummarizedTogether: once the invocation is over, the calls go into one
// window. With half of a group in the window, the view would show responses without calls.
func TestHalfAnsweredCallsAreSummarizedTogether(t *testing.T) {
	t.Parallel()
	const n = 1000
	h := (&compactiontest.History{}).User("i", "Go on.").Call("i", "agent", "tool", callIDs(n)...).
		Response("i", "agent", "tool", "ok", callIDs(n/2)...)
	h.Turns(20, "agent")
	next := func(p selector.Params) string {
		return shown(selector.Invocations(selector.Input{Events: h.Events}, p, ""))
	}
	check(t, "interrupted", next(defaults()), "e1-e39")
	p := defaults()
	p.Running = running("i")
	check(t, "while their invocation runs", next(p), "e4-e39")
}

// TestSelectionKnowsNoClock: the clocks of machines differ, and some machines have none.
func TestSelectionKnowsNoClock(t *testing.T) {
	t.Parallel()
	far := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	for name, clock := range map[string]func(i int) time.Time{
		"backwards": func(i int) time.Time { return histories.Epoch.Add(-time.Duration(i) * time.Hour) },
		"zero":      func(int) time.Time { return time.Time{} },
		"far":       func(int) time.Time { return far },
		"mixed":     func(i int) time.Time { return []time.Time{far, {}, histories.Epoch}[i%3] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compared := 0
			for shape, build := range hostileHistories {
				right, wrong := build(40), build(40)
				for i, ev := range wrong {
					ev.Timestamp = clock(i)
				}
				p := defaults()
				p.Retain = 4
				for kind, selectFrom := range map[string]func(h selector.Input) selector.Selection{
					"invocations": func(h selector.Input) selector.Selection { return selector.Invocations(h, p, "") },
					"tokens":      func(h selector.Input) selector.Selection { return selector.Tokens(h, p, "") },
					"manual":      func(h selector.Input) selector.Selection { return selector.Manual(h, p, "", 1) },
				} {
					want := selectFrom(selector.Input{Events: right})
					check(t, shape+", "+kind, shown(selectFrom(selector.Input{Events: wrong})), shown(want))
					compared += len(want.Events)
				}
			}
			if compared < 500 {
				t.Errorf("windows of %d events compared: the test shows nothing", compared)
			}
		})
	}
}
