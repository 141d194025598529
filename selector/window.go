package selector

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
)

// unitGroup is what goes into a window together or not at all: the members of one unit that lie in the
// branch and are not covered yet, or a lone event.
type unitGroup struct {
	events []int // positions, ascending
	// owner is the invocation of the newest member: when that is over, all of it is.
	owner *invocation
	says  bool // holds something other than a change of state
	held  bool // not to be summarized, because of an open call
	cost  int
}

// groups sorts candidates, positions of one branch in ascending order, into what a window may hold:
// eligible and, as far as it lies in the branch, whole. Held ones are listed for the reason's sake.
func (s *analysis) groups(branch string, candidates []int) []unitGroup {
	s.offer(candidates)
	out := make([]unitGroup, 0, len(candidates))
	for k, i := range candidates {
		if s.offered[i] != s.offers {
			continue // seen with its unit
		}
		unit := s.units.Of(i)
		if unit == nil {
			unit = candidates[k : k+1]
		}
		var p unitGroup
		whole := true
		for _, j := range unit {
			candidate := s.offered[j] == s.offers
			s.offered[j] = 0
			switch {
			case s.Events[j].Branch != branch || s.covered(j):
			case !candidate || s.pinned[j] && !s.held[j]:
				whole = false
			default:
				p.add(s, j)
			}
		}
		if len(p.events) > 0 && (whole || p.held) {
			out = append(out, p)
		}
	}
	return out
}

// offer marks candidates, and no others.
func (s *analysis) offer(candidates []int) {
	if s.offered == nil {
		s.offered = make([]int, len(s.Events))
	}
	s.offers++
	for _, i := range candidates {
		s.offered[i] = s.offers
	}
}

func (p *unitGroup) add(s *analysis, i int) {
	p.events = append(p.events, i)
	p.owner = s.of[i]
	p.says = p.says || s.says(i)
	p.held = p.held || s.held[i]
	if s.Cost != nil && !p.held { // which renders the event, and what is held goes nowhere
		p.cost += s.Cost(s.Events[i])
	}
}

// covered reports whether a live record stands for the event at position i already.
func (s *analysis) covered(i int) bool { return s.Covered != nil && s.Covered(s.Events[i]) }

// says reports whether there is anything to summarize in the event at position i.
func (s *analysis) says(i int) bool { return s.class[i].Is(adk.Speaks) }

// fits reports whether a unit group can be summarized: now, and in one call.
func (s *analysis) fits(p unitGroup) bool {
	return !p.held && (s.MaxTokens <= 0 || p.cost <= s.MaxTokens)
}

// windowOf makes a selection of the oldest groups that the summarizer can read together. One that is
// too large by itself is passed over, or all after it would wait for ever.
func (s *analysis) windowOf(branch string, groups []unitGroup) Selection {
	sel := Selection{Branch: branch, Reason: NothingEligible, Through: s.newestOf(branch)}
	var taken []int
	cost, says := 0, false
	for _, p := range groups {
		if !s.fits(p) {
			switch {
			case !p.says:
			case !p.held:
				sel.Reason = TooLarge
			case sel.Reason == NothingEligible:
				sel.Reason = Blocked
			}
			continue
		}
		if s.MaxTokens > 0 && cost+p.cost > s.MaxTokens {
			if says {
				sel.Cut = true
				break
			}
			taken, cost = nil, 0 // changes of state make room for what is said
		}
		cost += p.cost
		says = says || p.says
		taken = append(taken, p.events...)
	}
	if !says {
		return sel
	}
	sel.Reason = ""
	slices.Sort(taken)
	for _, i := range taken {
		sel.Events = append(sel.Events, s.Events[i])
		sel.Tokens += s.Size(s.Events[i])
		if s.givenUp[i] && i == s.firstCall(i) {
			sel.GivenUp = append(sel.GivenUp, s.Events[i])
		}
	}
	return sel
}

// firstCall returns the position of the first event with a call in the unit of event i.
func (s *analysis) firstCall(i int) int {
	for _, j := range s.units.Of(i) {
		if s.class[j].Is(adk.Calls) {
			return j
		}
	}
	return -1
}

// newestOf returns the newest event of a branch.
func (s *analysis) newestOf(branch string) *session.Event {
	if s.newest == nil {
		s.newest = map[string]*session.Event{}
		for _, ev := range s.Events {
			if ev != nil {
				s.newest[ev.Branch] = ev
			}
		}
	}
	return s.newest[branch]
}

// absorb lets a window take in the summaries of tool rounds of the finished invocations it is over.
func (s *analysis) absorb(sel *Selection, finished map[*invocation]bool) {
	if sel.Empty() {
		return
	}
	for _, m := range s.Current {
		if v := s.byID[m.EndInvocationID]; m.MidTurn() && m.Branch == record.Normalize(sel.Branch) && v != nil && finished[v] {
			sel.Absorb = append(sel.Absorb, m)
			sel.Tokens += promptsize.OfSummary(m)
		}
	}
}

// unlessTooSmall empties a selection that has not reached the size it must have to be tried again.
func (s *analysis) unlessTooSmall(sel Selection) Selection {
	if sel.Empty() || s.MinTokens == nil || sel.Tokens >= s.MinTokens(sel.Key()) {
		return sel
	}
	return Selection{Reason: TooSmall, Branch: sel.Branch, Through: sel.Through}
}
