package selector_test

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

// placed renders a window with the event behind which its summary is shown.
func placed(sel selector.Selection) string {
	out := shown(sel)
	if sel.After != nil {
		out += " by " + sel.Agent + " after " + sel.After.ID
	}
	return out
}

func TestTheNewestEventsOfTheBranchAreRetained(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		retain int
		script string
		want   string
	}{
		{"none", 0, turns(1, 3), "e1-e4"},
		{"three", 3, turns(1, 3), "e1-e3"},
		{"all there are", 6, turns(1, 3), "(the newest turns always stay word for word, and nothing older is left to summarize)"},
		{"more than there are", 60, turns(1, 3), "(the newest turns always stay word for word, and nothing older is left to summarize)"},
		{"a unit that reaches into them", 3, "1q 1c:x 1r:x 1a 2q", "e1"},
		{"those of other branches do not count", 2, "1q 1a 2q 2a 3q p.a|3a@a p.a|3a@a p.a|3a@a", "e1-e3"},
		{"nothing is there", 0, "", "(the newest turns always stay word for word, and nothing older is left to summarize)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := defaults()
			p.Retain = row.retain
			check(t, row.script, placed(selector.Tokens(newTape(script(row.script)).history(), p, "")), row.want)
		})
	}
}

func TestRetainedEventsAreBoundedInTokens(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		tokens int
		script string
		want   string
	}{
		{"no bound", 0, "1q 1a 2q 2a*900 3q 3a*200 4q", "e1"},
		{"a long one is not retained", 1000, "1q 1a 2q 2a*900 3q 3a*200 4q", "e1-e4"},
		{"nor is what comes before it", 1000, "1q 1a 2q*900 2a 3q 3a*200 4q", "e1-e3"},
		{"there is room for all", 2000, "1q 1a 2q 2a*900 3q 3a*200 4q", "e1"},
		{"the newest is retained", 1, "1q 1a 2q 2a 3q*900", "e1-e3"},
		{"events of other branches do not count", 300, "1q 1a 2q 2a p.a|2a@a*900 3q", "e1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := defaults()
			p.Retain, p.RetainTokens = 6, row.tokens
			if row.name == "events of other branches do not count" {
				p.Retain = 4
			}
			check(t, row.script, placed(selector.Tokens(newTape(script(row.script)).history(), p, "")), row.want)
		})
	}
}

func TestAnEventBoundPartsNoCallFromItsResponse(t *testing.T) {
	t.Parallel()
	h := newTape(script("1q 1c:x,y 1r:x*300 1r:y*200 1a 2q 2c:z*100 2r:z*100 2a 3q 3a 4q")).history()
	seen := map[string]bool{}
	for bound := range 1200 {
		p := defaults()
		p.Retain, p.RetainTokens = 10, bound+1
		sel := selector.Tokens(h, p, "")
		calls, responses := 0, 0
		for _, ev := range sel.Events {
			for _, part := range ev.Content.Parts {
				if part.FunctionCall != nil {
					calls++
				}
				if part.FunctionResponse != nil {
					responses++
				}
			}
		}
		if calls != responses {
			t.Fatalf("a bound of %d tokens selects %s", bound+1, placed(sel))
		}
		seen[placed(sel)] = true
	}
	if len(seen) < 4 {
		t.Errorf("all bounds select the same: %v", seen)
	}
}

func TestRoundsOfALiveTurnAreKeptApartFromEarlierTurns(t *testing.T) {
	t.Parallel()
	const loop = "2q 2c:x 2r:x 2c:y 2r:y 2c:z 2r:z"
	for _, row := range []struct{ name, branch, script, running, want string }{
		{"a tool loop", "", loop, "", "e2-e5 by bot after e1"},
		{"earlier turns first, when they are larger", "", "1q*900 1a " + loop, "", "e1 e2"},
		{"rounds first, when they are larger", "", "1q 1a " + loop, "", "e4-e7 by bot after e3"},
		{"an answered turn, for as long as it is the newest", "", loop + " 2a 2a", "", "e2-e8 by bot after e1"},
		{"a turn that is over", "", "1q 1c:x 1r:x 1a 2q 2a", "", "e1-e4"},
		{"behind another agent's words", "", "2q 2c:t@boss 2r:t@boss 2c:x 2r:x 2c:y 2r:y", "", "e4 e5 by bot after e3"},
		{"what agents did before another one spoke is past", "", "2q 2c:t@boss*90 2r:t@boss 2c:x 2r:x 2c:y 2r:y 2a@boss", "", "e2-e5"},
		{"one agent's rounds on either side of another's", "", "2q 2c:x 2r:x 2a@boss 2c:y*90 2r:y 2c:z 2r:z", "", "e5 e6 by bot after e4"},
		{"behind a change of state, where a prompt may begin", "", "2q 2S 2c:x 2r:x 2c:y 2r:y", "", "e3 e4 by bot after e2"},
		{"a sub-agent in a branch of its own", "p.a", "2q p.a|2c:x@a p.b|2a@b p.a|2r:x@a p.b|2a@b p.a|2c:y@a p.a|2r:y@a", "", "e2 e4 by a after e1"},
		{"a call that another agent's words follow", "", "2q 2c:x 2a@boss 2r:x 2c:y 2r:y", "", "(the newest turns always stay word for word, and nothing older is left to summarize)"},
		{"two turns at once are not mixed", "", "1q 2q 1c:x 2c:y*90 1r:x 2r:y 1c:z 1r:z 2c:w 2r:w", "1", "e4 e6 by bot after e2"},
		{"earlier words of a long invocation are earlier turns", "", "1q 1a 1q 1a 1q 1c:x 1r:x 1c:y 1r:y", "", "e2-e4"},
		{"an agent that nobody asked", "", "1c:x 1r:x 1c:y 1r:y", "", "e1 e2"},
		{"turns that nobody spoke in", "", "1q 1a 2c:x 2r:x 2a 3a 4c:y 4r:y 4a 4a", "", "e2-e6 by bot after e1"},
		{"the newest of them, when it is the larger part", "", "1q 1a 2a 4c:y*90 4r:y 4a 4a", "", "e4-e6 by bot after e1"},
		{"turns that nobody spoke in, once somebody has", "", "1q 1a 2c:x 2r:x 2a 3q 3a", "", "e1-e5"},
		{"the user's own part of a live turn stays", "", "2q 2l:x 2r:x 2u:x 2a 2a", "", "e5 by bot after e4"},
		{"nobody's words stay", "", "2q 2a@nobody 2a 2a", "", "e3 by bot after e2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			events := script(row.script)
			for _, ev := range events {
				if ev.Author == "nobody" {
					ev.Author = ""
				}
			}
			p := defaults()
			p.Running = running(row.running)
			check(t, row.script, placed(selector.Tokens(newTape(events).history(), p, row.branch)), row.want)
		})
	}
}

// A tool loop that goes on forever is summarized again and again. Once the turn is over, the window
// over the turn absorbs these summaries.
// A call that waits for a person holds what was before the turn. The rounds are taken all the same, even if the
// caller gives their events no size.
func TestRoundsOfNoSizeAreTakenWhenNothingElseMayBe(t *testing.T) {
	t.Parallel()
	const history = "1l:y@bot 1r:y@bot 2q 2a@helper*0 2c:w@helper"
	p := defaults()
	p.Size = sizeOf
	check(t, history, placed(selector.Tokens(newTape(script(history)).history(), p, "")), "e4 by helper after e3")
}

func TestTheWindowOverATurnTakesInTheSummariesOfItsRounds(t *testing.T) {
	t.Parallel()
	all := script("1q 1a 2q 2c:x 2r:x 2c:y 2r:y 2c:z 2r:z 2a " + turns(3, 6))
	tp := newTape(all[:9])
	for _, want := range []string{"e4-e7 by bot after e3", "e1 e2", "(the newest turns always stay word for word, and nothing older is left to summarize)"} {
		sel := selector.Tokens(tp.history(), defaults(), "")
		check(t, "during the turn", placed(sel), want)
		if len(sel.Absorb) > 0 {
			t.Errorf("%s takes in %d summaries", want, len(sel.Absorb))
		}
		if !sel.Empty() {
			tp.cover(sel)
		}
	}
	tp.events = all
	tp.live = append(tp.live, &record.Metadata{RecordID: "another branch's", Branch: "p.a", After: tp.live[0].After, EndInvocationID: "2"})
	for name, sel := range map[string]selector.Selection{
		"invocations": selector.Invocations(tp.history(), defaults(), ""),
		"tokens":      selector.Tokens(tp.history(), defaults(), ""),
		"manual":      selector.Manual(tp.history(), defaults(), "", 2),
	} {
		if len(sel.Absorb) != 1 || sel.Absorb[0].RecordID != "r1" {
			t.Errorf("%s: takes in %v, want the summary of the rounds alone", name, sel.Absorb)
		}
		if want := 10*len(sel.Events) + promptsize.OfSummary(tp.live[0]); sel.Tokens != want {
			t.Errorf("%s: %d tokens, want %d with the summary's own", name, sel.Tokens, want)
		}
	}
}

func TestASummaryStandsBehindAnEventThatARecordCanName(t *testing.T) {
	t.Parallel()
	events := script("2q -n 2c:x 2r:x 2c:y 2r:y")
	events[1] = &session.Event{}
	check(t, "rounds", placed(selector.Tokens(newTape(events).history(), defaults(), "")), "e3 e4 by bot after e1")
}

// In a bidirectional session, earlier words of an active invocation are summarized. A summary
// behind one of its events stays there.
func TestSummariesOfRoundsStayUntilTheTurnIsOver(t *testing.T) {
	t.Parallel()
	all := script("1q 1c:x 1r:x 1c:y 1r:y 1a 1a 1q 1a")
	tp := newTape(all[:5])
	sel := selector.Tokens(tp.history(), defaults(), "")
	check(t, "rounds", placed(sel), "e2 e3 by bot after e1")
	tp.cover(sel)
	tp.events = all
	sel = selector.Tokens(tp.history(), defaults(), "")
	check(t, "earlier words", placed(sel), "e4-e7")
	if len(sel.Absorb) > 0 {
		t.Error("they take in a summary that must stay behind its event")
	}
}

func TestByHandTheNewestTurnStaysInAnyCase(t *testing.T) {
	t.Parallel()
	unasked := newTape(script("1q 1a 2q 2a 3a 4c:x 4r:x 4a 5a")).history()
	for keep, want := range map[int]string{0: "e1 e2", 4: "e1 e2", 5: "(the newest turns always stay word for word, and nothing older is left to summarize)"} {
		check(t, fmt.Sprint(keep, " kept, unasked"), placed(selector.Manual(unasked, defaults(), "", keep)), want)
	}
	unasked = newTape(script("2q 2a 3a 4c:x 4r:x 4a 5a")).history()
	for keep, want := range map[int]string{0: "e2-e6 by bot after e1", 1: "e2-e6 by bot after e1", 2: "e2 e3 by bot after e1"} {
		check(t, fmt.Sprint(keep, " kept, unasked from the start"), placed(selector.Manual(unasked, defaults(), "", keep)), want)
	}
	h := newTape(script("1q 1a 2q 2a 3q 3c:x 3r:x 3a 3a")).history()
	for keep, want := range map[int]string{0: "e1-e4", 1: "e1-e4", 2: "e1 e2", 3: "(the newest turns always stay word for word, and nothing older is left to summarize)", 9: "(the newest turns always stay word for word, and nothing older is left to summarize)"} {
		check(t, fmt.Sprint(keep, " kept"), placed(selector.Manual(h, defaults(), "", keep)), want)
	}
}

func TestKeysTellStretchesOfHistoryApart(t *testing.T) {
	t.Parallel()
	h := newTape(script("1q*90 1a 2q 2c:x 2r:x 2c:y 2r:y 2a@boss 2c:z 2r:z 2c:w 2r:w")).history()
	seen := map[string]string{}
	for range 2 {
		p := defaults()
		p.MinTokens = func(key string) int { // what was tried is not tried again
			if seen[key] != "" {
				return 1000
			}
			return 0
		}
		sel := selector.Tokens(h, p, "")
		if sel.Empty() {
			t.Fatalf("only %v", seen)
		}
		seen[sel.Key()] = placed(sel)
	}
	if len(seen) != 2 {
		t.Errorf("keys: %q", seen)
	}
}
