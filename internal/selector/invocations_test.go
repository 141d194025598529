package selector_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

func TestTheOldestTurnsAreSummarizedOnceThereAreEnough(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, script, want string
		missing            int
	}{
		{"nothing", "", "(not due)", 5},
		{"three turns", turns(1, 3), "(not due)", 2},
		{"four turns", turns(1, 4), "(not due)", 1},
		{"five turns", turns(1, 5), "e1-e6", 0},
		{"six turns", turns(1, 6), "e1-e8", 0},
		{"a backlog, all of it", turns(1, 40), "e1-e76", 0},
		{"one event a turn", "1a 2a 3a 4a 5a", "e1-e3", 0},
		{"tool rounds", "1q 1c:x 1r:x 1a " + turns(2, 4), "e1-e8", 0},
		{"the question being answered is no complete turn", turns(1, 4) + "5q", "(not due)", 1},
		{"a call is no answer", turns(1, 4) + "5q 5c:x 5r:x", "(not due)", 1},
		{"words, then a call are no answer", turns(1, 4) + "5q 5a 5c:x", "(not due)", 1},
		{"words spoken", "1v 1a 2v 2a 3v 3a 4v 4a 5v 5a", "e1-e6", 0},
		{"a turn that was never answered", "1q " + turns(2, 4), "e1-e5", 0},
		{"changes of state are no turns", turns(1, 3) + "4s 5S 6s 7S 8s", "(not due)", 2},
		{"changes of state go with their neighbors", turns(1, 1) + "9S " + turns(2, 4), "e1-e7", 0},
		{"without an invocation, counted never", turns(1, 4) + "-q -a -q -a", "(not due)", 1},
		{"without an invocation, covered with the turn before", "1q 1a -q -a " + turns(2, 4), "e1-e8", 0},
		{"without an invocation, at the very start", "-q -a " + turns(1, 5), "e1-e8", 0},
		{"a late answer, with the turn it came in", "1q 1l:x 1r:x 1a " + turns(2, 7) + "9u:x 9a " + turns(10, 3), "e1-e22", 0},
		{"gaps", "-n 1q -n 1a -n " + turns(2, 4) + "-n", "e2 e4 e6-e9", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			sel := selector.Invocations(newTape(script(row.script)).history(), defaults(), "")
			check(t, row.script, shown(sel), row.want)
			if sel.Missing != row.missing {
				t.Errorf("missing %d, want %d", sel.Missing, row.missing)
			}
		})
	}
}

func TestTwelveTurnsMakeTwoWindows(t *testing.T) {
	t.Parallel()
	tp := newTape(nil)
	var windows []string
	for _, ev := range script(turns(1, 12)) {
		tp.events = append(tp.events, ev)
		sel := selector.Invocations(tp.history(), defaults(), "")
		if sel.Empty() {
			continue
		}
		if sel.Through != ev {
			t.Errorf("after %s: through %s, want the newest event", ev.ID, sel.Through.ID)
		}
		windows = append(windows, ev.ID+": "+shown(sel))
		tp.cover(sel)
	}
	check(t, "windows", strings.Join(windows, ", "), "e10: e1-e6, e20: e7-e16")
	check(t, "left", listed(tp.left()), "e17-e24")
}

// TestABacklogDrainsInWindowsOfTheSummarizersSize: a history that grew before compaction was turned
// on costs few calls of the summarizer, and no window is too large for it.
func TestABacklogDrainsInWindowsOfTheSummarizersSize(t *testing.T) {
	t.Parallel()
	for turnsStored, want := range map[int]int{7: 1, 13: 1, 100: 4, 109: 5} {
		tp := newTape(script(turns(1, turnsStored)))
		p := defaults()
		p.MaxTokens, p.Cost = 500, func(*session.Event) int { return 10 }
		windows, last := tp.drain(t, p, "")
		if len(windows) != want {
			t.Errorf("%d turns: %d windows, want %d", turnsStored, len(windows), want)
		}
		for i, sel := range windows {
			if len(sel.Events) > 50 {
				t.Errorf("%d turns: a window of %d events; the summarizer can read 50", turnsStored, len(sel.Events))
			}
			if more := i < len(windows)-1; sel.Cut != more {
				t.Errorf("%d turns: window %d of %d says Cut %t", turnsStored, i+1, len(windows), sel.Cut)
			}
		}
		if left := len(tp.left()) / 2; left < 2 || left >= 5+2 {
			t.Errorf("%d turns: %d left raw", turnsStored, left)
		}
		check(t, "last word", shown(last), "(not due)")
	}
}

// After a compaction by hand that left few turns raw, the trigger waits for new ones.
func TestWhatWasRecentAtTheLastSummaryDoesNotCountAgain(t *testing.T) {
	t.Parallel()
	all := script(turns(1, 20))
	for keep, want := range map[int]int{1: 11, 2: 11, 4: 9} {
		tp := newTape(all[:2*6])
		tp.cover(selector.Manual(tp.history(), defaults(), "", keep))
		due := 7
		for ; due < 20; due++ {
			tp.events = all[:2*due]
			if sel := selector.Invocations(tp.history(), defaults(), ""); !sel.Empty() {
				break
			}
		}
		if due != want {
			t.Errorf("%d turns kept: due after %d, want %d", keep, due, want)
		}
	}
}

func TestOnlyTurnsAfterTheFurthestSummaryCount(t *testing.T) {
	t.Parallel()
	all := script(turns(1, 20))
	through := func(branch string, i int) *record.Metadata {
		return &record.Metadata{Branch: branch, Through: record.RefTo(all[i])}
	}
	for _, row := range []struct {
		name string
		view []*session.Event
		live []*record.Metadata
		want int // missing
	}{
		{"none", all[:8], nil, 1},
		{"one", all[:8], []*record.Metadata{through("", 1)}, 2},
		{"the furthest of several", all[:8], []*record.Metadata{through("", 1), through("", 5), through("", 3)}, 4},
		{"another branch's does not count", all[:8], []*record.Metadata{through("p.a", 7)}, 1},
		{"one that is hidden", slices.Concat(all[2:6], all[10:14]), []*record.Metadata{through("", 9)}, 3},
		{"the furthest that is hidden", slices.Concat(all[2:6], all[10:14]), []*record.Metadata{through("", 7), through("", 9), through("", 1)}, 3},
	} {
		h := selector.Input{Events: row.view, Current: row.live}
		p := defaults()
		p.Overlap = 9
		sel := selector.Invocations(h, p, "")
		if sel.Reason != selector.NotDue || sel.Missing != row.want {
			t.Errorf("%s: %s, %d missing, want %d", row.name, shown(sel), sel.Missing, row.want)
		}
	}
}

func TestEventsWithoutAnInvocationGoWithTheirBranch(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, script, want string }{
		{"before the first of it", "1q 1a p.a|-a@a p.a|2a@a p.a|3a@a p.a|4a@a p.a|5a@a", "e3 e4"},
		{"nothing else is in it", "1q 1a 2q 2a p.a|-a@a p.a|-a@a", "(not due)"},
		{"next to other branches", "1q p.a|1a@a 2q -a p.a|-a@a p.a|2a@a 2a p.a|3a@a p.a|4a@a 4a p.a|5a@a", "e2 e5 e6"},
	} {
		p := defaults()
		p.Threshold, p.Overlap = 1, 3
		if row.want != "(not due)" {
			p.Threshold = 4
		}
		check(t, row.name, shown(selector.Invocations(newTape(script(row.script)).history(), p, "p.a")), row.want)
	}
}

func TestTheTriggerCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	p := defaults()
	p.Threshold = 0
	sel := selector.Invocations(newTape(script(turns(1, 50))).history(), p, "")
	check(t, "threshold 0", shown(sel), "(not due)")
	if sel.Missing != math.MaxInt {
		t.Errorf("missing %d: no number of turns makes it due", sel.Missing)
	}
}

// Of two runs at once, the trigger waits for those that are known to be running, and for no others.
func TestATurnInProgressIsNotSummarized(t *testing.T) {
	t.Parallel()
	const interrupted = "1q 1a 2q 2c:x 2r:x 3q 3a 4q 4a 5q 5a 6q 6a"
	for _, row := range []struct{ name, script, running, want string }{
		{"its run ended without an answer", interrupted, "", "e1-e9"},
		{"its run goes on", interrupted, "2", "e1 e2 e6-e9"},
		{"its run has answered", "1q 1a 2q 2c:x 2r:x 2a " + turns(3, 4), "2", "e1-e10"},
		{"its run alone is left", "1q 1c:x 1r:x", "", "(not due)"},
		{"the newest waits for a tool", turns(1, 5) + "6q 6c:x 6r:x", "", "e1-e6"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := defaults()
			p.Running = running(row.running)
			check(t, row.script, shown(selector.Invocations(newTape(script(row.script)).history(), p, "")), row.want)
		})
	}
}

// TestWhoSpeaksMayGoOnInAnotherBranch: invocation 2 has answered in p.a, and 3 is newer. When 2
// goes on in the root's branch, nothing begins, so the trigger must not have asked for two more
// invocations.
func TestWhoSpeaksMayGoOnInAnotherBranch(t *testing.T) {
	t.Parallel()
	all := script("1a p.a|2a 3a p.a|2a 2a 4a")
	p := defaults()
	p.Threshold, p.Overlap = 2, 1
	tp := newTape(all[:3])
	first := selector.Invocations(tp.history(), p, "")
	check(t, "1 and 3 are complete", shown(first), "e1")
	tp.cover(first)
	tp.events = all[:4]
	if sel := selector.Invocations(tp.history(), p, ""); sel.Reason != selector.NotDue || sel.Missing != 1 {
		t.Errorf("behind e4: %q, %d missing, want 1", sel.Reason, sel.Missing)
	}
	tp.events = all
	check(t, "one more began", shown(selector.Invocations(tp.history(), p, "")), "e3 e5")
}
