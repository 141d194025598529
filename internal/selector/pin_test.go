package selector_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// Each row lists all events that stay raw when everything else has been summarized. So it fails if
// a pin is missing, and if one keeps too much.
func TestWhatStaysRawWhateverTheTrigger(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, script, running, want string }{
		{"the newest question and answer", turns(1, 3), "", "e5 e6"},
		{"the question being answered", turns(1, 3) + "4q", "", "e6 e7"},
		{"the question behind a tool loop", "1q 1a 2q 2c:x 2r:x 2c:y 2r:y 2c:z 2r:z", "", "e3 e8 e9"},
		{"the questions of two runs at once", "1q 1a 2q 2c:x 2r:x 3q 3c:y 3r:y 3c:z 3r:z", "2", "e3 e6 e9 e10"},
		{"openings and last words of two runs at once", "1q 1a 2q 2a 2q 2c:x 2r:x 3q 3c:y 3r:y 3c:z 3r:z", "2", "e3 e5 e8 e11 e12"},
		{"no question of a run that ended", "1q 1a 2q 2c:x 2r:x 3q 3c:y 3r:y 3c:z 3r:z", "", "e6 e9 e10"},
		{"an opening without an ID is kept by itself", "1q 1a -q 2q 2a", "", "e4 e5"},
		{"the user's last words in a long invocation", "1q 1a 1q 1a 1q 1c:x 1r:x 1a", "", "e1 e5 e8"},
		{"the user's last words, spoken", "1v 1a 1v 1a 1v 1c:x 1r:x 1a", "", "e1 e5 e8"},
		{"a tool response is not the user's words", "1q 1a 1q 1l:x 1r:x 1a 1u:x 1a 1a", "", "e1 e3-e5 e7 e9"},

		{"the newest agent event with its unit", "1q 1a 2q 2c:x,y 2r:x 2r:y", "", "e3-e6"},
		{"the newest agent event before a new question", "1q 1a 2q 2a@helper 3q", "", "e2 e4 e5"},
		{"the newest event of each author", "1q 1a 2q 2c:x@boss 2r:x@boss 2a@one 2a@two 2a@one", "", "e2-e5 e7 e8"},
		{"each author, with another run between", "1q 1a 2q 2a@boss 3q 2a@one 3a@helper 2a@two", "2,3", "e2 e4-e8"},
		{"an author of many turns ago", "1q 1a@helper " + turns(2, 9), "", "e2 e19 e20"},
		{"an agent that only changed state", "1q 1a 2q 2a 3s@helper", "", "e3-e5"},

		{"an open call", "1q 1l:x " + turns(2, 2), "", "e2 e5 e6"},
		{"an open call's answered sibling", "1q 1l:x,y 1u:x " + turns(2, 2), "", "e2 e3 e6 e7"},
		{"nothing but the open call", "1q 1c:z 1r:z 1a 1l:x 1a " + turns(2, 2), "", "e5 e9 e10"},
		{"a call of no ID", "1q 1c: 1r: 1a " + turns(2, 2), "", "e7 e8"},
		{"no interrupted call", "1q 1c:x,y 1r:x " + turns(2, 2), "", "e6 e7"},
		{"a call whose invocation runs on", "1q 1c:x,y 1r:x " + turns(2, 2), "1", "e1-e3 e6 e7"},
		{"an interrupted call beside a long-running one", "1q 1l:x,y 1r:x " + turns(2, 2), "", "e2 e3 e6 e7"},
		{"no answered call", "1q 1c:x 1r:x 1a " + turns(2, 2), "", "e7 e8"},
		{"an open call of another branch", "p.a|1l:x@a " + turns(2, 2), "", "e1 e4 e5"},

		{"a long-running call with its placeholder", "1q 1l:x 1r:x 1a " + turns(2, 2), "", "e2 e3 e7 e8"},
		{"long-running, answered by the user", "1q 1l:x 1r:x 1a 1u:x 1a " + turns(2, 2), "", "e9 e10"},
		{"long-running, answered in a later turn", "1q 1l:x 1r:x 1a 2q 2r:x 2a " + turns(3, 2), "", "e10 e11"},
		{"long-running beside an answered one", "1q 1c:x,y 1r:x,y 1a 2l:z 2r:z " + turns(3, 2), "", "e5 e6 e9 e10"},

		{"a confirmation, both calls", "1q 1c:x 1f:y>x 1r:x 1r:y 1a " + turns(2, 2), "", "e2-e5 e9 e10"},
		{"a confirmation that was given", "1q 1c:x 1f:y>x 1r:x 1r:y 1a 2u:y 2r:x 2a " + turns(3, 2), "", "e12 e13"},
		{"a confirmation whose tool has run in this turn", "1q 1c:x 1f:y>x 1r:x 1r:y 1a 2u:y 2r:x 2c:t 2r:t 2a@sub 2c:z 2r:z 2c:w 2r:w", "", "e2-e5 e7 e8 e11 e14 e15"},
		{"a confirmation whose tool still runs", "1q 1c:x 1f:y>x 1r:x 1r:y 1a 2u:y 3q", "2", "e2-e8"},

		{"the newest remote context of each author", "1q 1x@r1 2q 2x@r2 3q 3x@r1 4q 4a 5q 5a", "", "e4 e6 e9 e10"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := defaults()
			p.Running = running(splitList(row.running)...)
			check(t, row.script, kept(t, p, row.script), row.want)
		})
	}
}

func TestAConfirmationAskedForInAResponseKeepsTheCall(t *testing.T) {
	t.Parallel()
	events := script("1q 1c:x 1r:x 1a", turns(2, 2))
	events[2].Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{"x": {}}
	tp := newTape(events)
	tp.exhaust(t, defaults())
	check(t, "left", listed(tp.left()), "e2 e3 e7 e8")
}

// TestTheEndOfATaskStays, also when a process with ADK v1 summarizes what one with v2 has stored.
func TestTheEndOfATaskStays(t *testing.T) {
	t.Parallel()
	events := script("1q 1a@clerk 1c:w@clerk 1r:w@clerk 1c:x@clerk 1r:x@clerk 2q 2a@clerk 2a@clerk", turns(3, 2))
	for _, ev := range events[:9] {
		adk.SetLane(ev, adk.JoinLane("", "call-1"))
	}
	events[4].Content.Parts[0].FunctionCall.Name = "finish_task"
	events[5].Content.Parts[0].FunctionResponse.Name = "finish_task"
	tp := newTape(events)
	tp.exhaust(t, defaults())
	check(t, "left", listed(tp.left()), "e5 e6 e9 e12 e13")
}

func TestAPinKeepsItsUnitAndNothingElse(t *testing.T) {
	t.Parallel()
	for pinned, want := range map[string]string{
		"e1": "e1 e9 e10",
		"e2": "e2 e3 e5 e9 e10",
		"e5": "e2 e3 e5 e9 e10",
		"e4": "e4 e9 e10",
	} {
		p := defaults()
		p.Pin = func(ev *session.Event) bool { return ev.ID == pinned }
		check(t, pinned, kept(t, p, "1q 1c:x,y 1r:x 1a 1r:y 1a", turns(2, 2)), want)
	}
	p := defaults()
	p.Pin = func(ev *session.Event) bool { return ev.ID == "e1" }
	check(t, "in two branches", kept(t, p, "p.a|1l:x@a p.a|1r:x@a p.a|1a@a 2u:x 2a", turns(3, 2)), "e1-e4 e8 e9")
}

// The view shows the summary of a turn's tool rounds behind an event, which stays raw while the
// turn goes on.
func TestTheEventThatASummaryStandsBehindStays(t *testing.T) {
	t.Parallel()
	const words = "1q 1a 2q 2c:t@boss 2r:t@boss 2a@boss 2c:x 2r:x 2c:y 2r:y 2c:z 2r:z"
	for _, row := range []struct {
		name, more string
		stay       bool
	}{
		{"the turn goes on", "", true},
		{"another agent has spoken", " 2c:u@boss 2r:u@boss 2a@boss", false},
		{"the turn is over", " 2a 3q 3a@boss 4q 4a", false},
	} {
		tp := newTape(script(words + row.more))
		tp.cover(selector.Selection{Events: tp.events[6:8], After: tp.events[5], Agent: "bot", Through: tp.events[11]})
		if stands := selector.MustStayInPlace(tp.history(), defaults())(tp.history().Current[0]); stands != row.stay {
			t.Errorf("%s: the summary stands where it is: %v", row.name, stands)
		}
		tp.exhaust(t, defaults())
		if stays := indexOf(tp.left(), "e6") >= 0; stays != row.stay {
			t.Errorf("%s: e6 stays: %v, left %s", row.name, stays, listed(tp.left()))
		}
	}
}

// TestNobodyIsTooLateToAnswer: a waiting call stays raw however many turns ago it was made.
func TestNobodyIsTooLateToAnswer(t *testing.T) {
	t.Parallel()
	check(t, "long-running", kept(t, defaults(), "1q 1l:x 1r:x", turns(2, 200)), "e2 e3 e402 e403")
	check(t, "a confirmation", kept(t, defaults(), "1q 1c:x 1f:y>x 1r:x", turns(2, 200)), "e2-e4 e403 e404")
}

// TestTheOldestOfTooManyWaitingCallsAreGivenUp: each turn leaves a call that waits. Up to the
// limit, all stay raw; beyond it, the newest do.
func TestTheOldestOfTooManyWaitingCallsAreGivenUp(t *testing.T) {
	t.Parallel()
	for extra, want := range map[int][]string{0: nil, 1: {"e2"}, 5: {"e2", "e5", "e8", "e11", "e14"}} {
		var words strings.Builder
		for i := range selector.MaxWaiting + extra {
			fmt.Fprintf(&words, "%dq %dl:x%d %da ", i, i, i, i)
		}
		tp := newTape(script(words.String(), turns(1000, 2)))
		sel := selector.Manual(tp.history(), defaults(), "", 1)
		if got := compactiontest.IDs(sel.GivenUp); !slices.Equal(got, want) {
			t.Errorf("of %d more than the limit %q are given up, want %q", extra, got, want)
		}
		tp.cover(sel)
		if again := selector.Manual(tp.history(), defaults(), "", 0); len(again.GivenUp) > 0 {
			t.Errorf("%q are given up although no more wait than may", compactiontest.IDs(again.GivenUp))
		}
		waiting := 0
		for _, ev := range tp.left() {
			waiting += len(ev.LongRunningToolIDs)
		}
		if waiting != selector.MaxWaiting {
			t.Errorf("%d waiting calls are kept, want %d", waiting, selector.MaxWaiting)
		}
	}
}

// An app that names an agent anew in every turn does not keep all of its turns raw: the agents that wrote last, and the
// user, are kept up to the limit.
func TestTheNewestAgentsAreKeptUpToTheLimit(t *testing.T) {
	t.Parallel()
	for agents, want := range map[int]int{selector.MaxAgents - 1: selector.MaxAgents - 1, selector.MaxAgents + 20: selector.MaxAgents - 1} {
		var words strings.Builder
		for i := range agents {
			fmt.Fprintf(&words, "%dq %da@agent%d ", i, i, i)
		}
		tp := newTape(script(words.String()))
		tp.exhaust(t, defaults())
		var kept []string
		for _, ev := range tp.left() {
			if ev.Author != "user" {
				kept = append(kept, ev.Author)
			}
		}
		if newest := fmt.Sprint("agent", agents-1); len(kept) != want || kept[len(kept)-1] != newest {
			t.Errorf("of %d agents, %d are kept, up to %s: want %d, up to %s", agents, len(kept), kept[len(kept)-1], want, newest)
		}
	}
}

// A call that waits is all that is left of an early turn: the newest turn is the one that the user asked last.
func TestALateAnswerDoesNotMakeAnOldTurnTheNewest(t *testing.T) {
	t.Parallel()
	var h compactiontest.History
	h.Events = script("1q 1l:x 1r:x 1a 2q 2a 3q 3c:y 3r:x 3r:y")
	if live := selector.ActiveInvocations(viewOf(h.Events), selector.Params{Running: running("1")}); !live["3"] || live["1"] {
		t.Errorf("live before any summary: %v, want 3 alone", live)
	}
	h.Compact("r1", "e1", "e4")
	p := defaults()
	p.Running = running("1") // the end of a run becomes known late
	if sel := selector.Manual(viewOf(h.Events), p, "", 1); indexOf(sel.Events, "e7") >= 0 {
		t.Errorf("the question being answered would be summarized: %s", shown(sel))
	}
	live := selector.ActiveInvocations(viewOf(h.Events), p)
	if !live["3"] || live["1"] {
		t.Errorf("live: %v, want 3 alone", live)
	}
}

func TestALateAnswerDoesNotMakeAnOldTurnNew(t *testing.T) {
	t.Parallel()
	var h compactiontest.History
	h.Events = script("1q 1l:x 1r:x 1a 2q 2a")
	h.Compact("r1", "e1", "e4")
	h.Events = append(h.Events, script("-n -n -n -n -n -n 3q 3r:x 3a 4q 4a")[6:]...)
	p := defaults()
	p.Threshold = 3
	sel := selector.Invocations(viewOf(h.Events), p, "")
	check(t, "two turns began since", shown(sel), "(not due)")
}

func TestRecordsAreNoTurns(t *testing.T) {
	t.Parallel()
	events := script(turns(1, 4))
	m := &record.Metadata{RecordID: "r1", Kind: record.KindSummary, Trigger: record.TriggerManual}
	if err := m.SetText("summary"); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		events = append(events, histories.RecordEvent(m, events[7].Timestamp))
	}
	h := selector.Input{Events: events}
	sel := selector.Invocations(h, defaults(), "")
	if sel.Missing != 1 {
		t.Errorf("missing %d of 5 after 4 turns and 10 records", sel.Missing)
	}
}
