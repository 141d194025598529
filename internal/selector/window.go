package selector

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// unitGroup is what a window takes whole or not at all: a lone event, or those members of one unit
// that are in the branch and that no record covers yet. A unit may span branches, because the
// user's late answer has no branch. Each member then goes into the summary of its own branch:
//
//	e1 bot,  branch p.a: calls ship(), long-running    a window of p.a takes e1 and e2
//	e2 bot,  branch p.a: the response "pending"
//	e3 user, no branch:  the response "shipped"        a window of the root branch takes e3
type unitGroup struct {
	events []int // positions, ascending
	// owner is the invocation of the newest member. Once it is over, the whole group is over.
	owner  *invocation
	speaks bool // some event is more than a change of state
	held   bool // an open call keeps it raw
	cost   int  // for the summarizer to read, in tokens
}

// groups returns the groups that a window may take from candidates, which are positions of one
// branch in ascending order: groups that are neither pinned nor partly outside the candidates.
// Groups that an open call holds are returned too, but only to explain an empty window; see
// [analysis.fits].
func (a *analysis) groups(branch string, candidates []int) []unitGroup {
	a.offer(candidates)
	out := make([]unitGroup, 0, len(candidates))
	for k, i := range candidates {
		if a.offered[i] != a.offers {
			continue // taken with its unit
		}
		unit := a.units.Of(i)
		if unit == nil {
			unit = candidates[k : k+1]
		}
		var g unitGroup
		whole := true
		for _, j := range unit {
			candidate := a.offered[j] == a.offers
			a.offered[j] = 0
			switch {
			case adk.Lane(a.Events[j]) != branch || a.covered(j): // not part of this summary
			case !candidate || a.pinned[j] && !a.held[j]: // it stays, so the rest stays too
				whole = false
			default:
				g.add(a, j)
			}
		}
		if len(g.events) > 0 && (whole || g.held) {
			out = append(out, g)
		}
	}
	return out
}

// offer makes candidates the current set of candidates.
func (a *analysis) offer(candidates []int) {
	if a.offered == nil {
		a.offered = make([]int, len(a.Events))
	}
	a.offers++
	for _, i := range candidates {
		a.offered[i] = a.offers
	}
}

func (g *unitGroup) add(a *analysis, i int) {
	g.events = append(g.events, i)
	g.owner = a.of[i]
	g.speaks = g.speaks || a.speaks(i)
	g.held = g.held || a.held[i]
	if a.Cost != nil && a.MaxTokens > 0 && !g.held { // Cost renders the event: spare it where nothing depends on it
		g.cost += a.Cost(a.Events[i])
	}
}

// fits reports whether a group can be summarized now, in one call.
func (a *analysis) fits(g unitGroup) bool {
	return !g.held && (a.MaxTokens <= 0 || g.cost <= a.MaxTokens)
}

// pack selects the oldest groups that the summarizer can read in one call, and returns the
// positions of their events too. It skips a group that is too large on its own. Otherwise
// everything after that group would wait forever.
//
// With room for 100 tokens:
//
//	groups of 60, 150, 30 and 20 tokens    the window has 60 and 30; 150 is skipped; 20 waits (Cut)
func (a *analysis) pack(branch string, groups []unitGroup) (sel Selection, taken []int) {
	sel = Selection{Branch: branch, Reason: NothingEligible, Through: a.newestOf(branch)}
	cost, speaks := 0, false
	for k, g := range groups {
		if !a.fits(g) {
			switch {
			case !g.speaks: // nobody misses a change of state
			case !g.held:
				sel.Reason = TooLarge
			case sel.Reason == NothingEligible:
				sel.Reason = Blocked
			}
			continue
		}
		if a.MaxTokens > 0 && cost+g.cost > a.MaxTokens {
			if speaks {
				sel.Cut, sel.rest = true, restBehind(a, groups[k:])
				break
			}
			taken, cost = nil, 0 // only changes of state so far: they make room for what is said
		}
		cost += g.cost
		speaks = speaks || g.speaks
		taken = append(taken, g.events...)
	}
	if !speaks {
		return sel, nil // there is nothing to tell about changes of state alone
	}
	sel.Reason = ""
	slices.Sort(taken)
	for _, i := range taken {
		sel.Events = append(sel.Events, a.Events[i])
		sel.Tokens += a.Size(a.Events[i])
		if a.givenUp[i] && i == a.firstCall(i) {
			sel.GivenUp = append(sel.GivenUp, a.Events[i])
		}
	}
	return sel, taken
}

// firstCall returns the position of the first event with a call in the unit of event i.
func (a *analysis) firstCall(i int) int {
	for _, j := range a.units.Of(i) {
		if a.class[j].Is(adk.Calls) {
			return j
		}
	}
	return -1
}

// newestOf returns the newest event of a branch, nil if there is none.
func (a *analysis) newestOf(branch string) *session.Event {
	if a.newest == nil {
		a.newest = map[string]*session.Event{}
		for _, ev := range a.Events {
			if ev != nil {
				a.newest[adk.Lane(ev)] = ev
			}
		}
	}
	return a.newest[branch]
}

// absorb makes a window also stand for the summaries of tool rounds of invocations that it covers
// and that are over, unless they must stay in place. The turn then has one summary, in order.
func (a *analysis) absorb(sel *Selection, finished map[*invocation]bool) {
	if sel.Empty() {
		return
	}
	for _, m := range a.Current {
		if v := a.byID[m.EndInvocationID]; m.MidTurn() && m.Branch == record.Normalize(sel.Branch) && v != nil && finished[v] && !a.mustStayInPlace(m) {
			sel.absorb(m)
		}
	}
}

// unlessTooSmall returns sel, or an empty selection if sel is smaller than MinTokens requires.
// MinTokens rises after a summary that was not shorter than its window, so that the same window is
// not tried again before it has grown.
func (a *analysis) unlessTooSmall(sel Selection) Selection {
	if sel.Empty() || a.MinTokens == nil || sel.Tokens >= a.MinTokens(sel.Key()) {
		return sel
	}
	return Selection{Reason: TooSmall, Branch: sel.Branch, Through: sel.Through}
}
