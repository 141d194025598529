package selector_test

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/selector"
)

func TestAnIdleSessionAndAStuckOneLookDifferent(t *testing.T) {
	t.Parallel()
	invocations := func(h selector.Input, p selector.Params) selector.Selection {
		return selector.Invocations(h, p, "")
	}
	tokens := func(h selector.Input, p selector.Params) selector.Selection {
		return selector.Tokens(h, p, "")
	}
	manual := func(h selector.Input, p selector.Params) selector.Selection {
		return selector.Manual(h, p, "", 2)
	}
	for _, row := range []struct {
		name, script string
		sel          func(selector.Input, selector.Params) selector.Selection
		change       func(*selector.Params)
		want         selector.Reason
	}{
		{"too few turns", turns(1, 4), invocations, nil, selector.NotDue},
		{"all recent", turns(1, 4), invocations, func(p *selector.Params) { p.Threshold, p.Overlap = 2, 4 }, selector.NothingEligible},
		{"all recent", turns(1, 2), manual, nil, selector.NothingEligible},
		{"all retained", turns(1, 4), tokens, func(p *selector.Params) { p.Retain = 10 }, selector.NothingEligible},
		{"all pinned", turns(1, 9), invocations, func(p *selector.Params) { p.Pin = func(*session.Event) bool { return true } }, selector.NothingEligible},
		{"changes of state alone", "1s 2S 3s 4s 5s 6s", tokens, nil, selector.NothingEligible},
		{"open calls alone", "1l:a 2l:b 3l:c 4l:d 5l:e " + turns(6, 2), invocations, nil, selector.Blocked},
		{"open calls alone", "1l:a 2l:b 3l:c 4l:d 5l:e " + turns(6, 2), tokens, func(p *selector.Params) { p.Retain = 4 }, selector.Blocked},
		{"open calls alone", "1l:a 2l:b 3l:c 4l:d 5l:e " + turns(6, 2), manual, nil, selector.Blocked},
		{"too large, all of them", "1q 1a 2q 2a 3q 3a 4q 4a 5q 5a", invocations, func(p *selector.Params) { p.MaxTokens = 5 }, selector.TooLarge},
		{"too large, all of them", turns(1, 5), tokens, func(p *selector.Params) { p.MaxTokens = 5 }, selector.TooLarge},
		{"too large, all of them", turns(1, 5), manual, func(p *selector.Params) { p.MaxTokens = 5 }, selector.TooLarge},
		{"too small", turns(1, 5), invocations, func(p *selector.Params) { p.MinTokens = func(string) int { return 61 } }, selector.TooSmall},
		{"too small", turns(1, 5), tokens, func(p *selector.Params) { p.MinTokens = func(string) int { return 81 } }, selector.TooSmall},
		{"too small", turns(1, 5), manual, func(p *selector.Params) { p.MinTokens = func(string) int { return 61 } }, selector.TooSmall},
		{"a live turn is blocked, earlier ones are done", "2q 2c:x 2a 2a@boss 2a@boss", tokens, func(p *selector.Params) { p.Retain = 2 }, selector.Blocked},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := defaults()
			p.Cost = sizeOf
			if row.change != nil {
				row.change(&p)
			}
			sel := row.sel(newTape(script(row.script)).history(), p)
			check(t, row.script, shown(sel), fmt.Sprintf("(%s)", row.want))
			if sel.Cut || sel.After != nil || sel.Tokens != 0 {
				t.Errorf("an empty selection says %+v", sel)
			}
		})
	}
}

func TestAWindowIsCutBetweenUnits(t *testing.T) {
	t.Parallel()
	// Each event costs 6 tokens.
	for _, row := range []struct {
		name, script string
		limit        int
		want         string
		cut          bool
	}{
		{"it fits", turns(1, 5), 36, "e1-e6", false},
		{"all but the last", turns(1, 5), 35, "e1-e5", true},
		{"no limit", turns(1, 5), 0, "e1-e6", false},
		{"between two units", "1q 1c:x 1r:x 1a " + turns(2, 4), 17, "e1", true},
		{"behind a unit", "1q 1c:x 1r:x 1a " + turns(2, 4), 18, "e1-e3", true},
		{"a unit that is spread out", "1q 1c:x,y 1r:x 1a 1r:y 1a " + turns(2, 4), 24, "e1-e3 e5", true},
		{"what is too large is passed over", "1q*99 1c:x*99 1r:x 1a " + turns(2, 4), 36, "e4-e8", false},
		{"and so is a unit too large together", "1q 1c:x*16 1r:x*16 1a " + turns(2, 4), 31, "e1 e4-e7", true},
		{"changes of state leave room for words", "1S 1S 1S 1q*10 1a " + turns(2, 4), 12, "e4", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := defaults()
			p.Cost, p.MaxTokens = sizeOf, row.limit
			sel := selector.Invocations(newTape(script(row.script)).history(), p, "")
			check(t, row.script, shown(sel), row.want)
			if sel.Cut != row.cut {
				t.Errorf("cut %v", sel.Cut)
			}
		})
	}
}

// One-word turns must not cost a call each: if the summary of a window was not shorter, the window
// waits until it has grown by half.
func TestADeclinedWindowIsTriedAgainWhenItHasGrownByHalf(t *testing.T) {
	t.Parallel()
	const declined = 60 // three turns of two events of 10 tokens
	for n, want := range map[int]string{
		5: "(what is left to summarize is so short that a summary would not be shorter)",
		6: "(what is left to summarize is so short that a summary would not be shorter)",
		7: "e1-e10",
	} {
		p := defaults()
		p.MinTokens = func(string) int { return declined + declined/2 }
		check(t, fmt.Sprint(n, " turns"), shown(selector.Invocations(newTape(script(turns(1, n))).history(), p, "")), want)
	}
	p := defaults()
	p.MinTokens = func(key string) int { return map[string]int{"": 210, "p.a": 10_000}[key] }
	sel := selector.Invocations(newTape(script(turns(1, 60))).history(), p, "")
	check(t, "a backlog behind a window that was declined", shown(sel), "e1-e116")
}

// If a unit is in two branches, each part goes into the summary of its own branch.
func TestAUnitInTwoBranchesIsCoveredInBoth(t *testing.T) {
	t.Parallel()
	tp := newTape(script("1q p.a|1l:x@a p.a|1r:x@a p.a|1a@a 2u:x 2a", turns(3, 3)))
	for _, row := range []struct{ branch, want string }{
		{"p.a", "e2 e3"}, {"", "e1 e5-e10"}, {"p.a", "(the newest turns always stay word for word, and nothing older is left to summarize)"}, {"", "(the newest turns always stay word for word, and nothing older is left to summarize)"},
	} {
		sel := selector.Tokens(tp.history(), defaults(), row.branch)
		check(t, row.branch, shown(sel), row.want)
		if !sel.Empty() {
			tp.cover(sel)
		}
	}
	check(t, "left", listed(tp.left()), "e4 e11 e12")
}
