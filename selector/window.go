package selector

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
)

// parcel is what goes into a window together or not at all: the members of one unit that lie in the
// branch and are not covered yet, or a lone event.
type parcel struct {
	events []int // positions, ascending
	// owner is the invocation of the newest member: when that is over, all of it is.
	owner *invocation
	says  bool // holds something other than a change of state
	held  bool // not to be summarized, because of an open call
	cost  int
}

// parcels sorts candidates, positions of one branch in ascending order, into what a window may hold:
// eligible and, as far as it lies in the branch, whole. Held ones are listed for the reason's sake.
func (s *survey) parcels(branch string, candidates []int) []parcel {
	s.offer(candidates)
	out := make([]parcel, 0, len(candidates))
	for k, i := range candidates {
		if s.offered[i] != s.offers {
			continue // seen with its unit
		}
		unit := s.units.Of(i)
		if unit == nil {
			unit = candidates[k : k+1]
		}
		var p parcel
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
func (s *survey) offer(candidates []int) {
	if s.offered == nil {
		s.offered = make([]int, len(s.Events))
	}
	s.offers++
	for _, i := range candidates {
		s.offered[i] = s.offers
	}
}

func (p *parcel) add(s *survey, i int) {
	p.events = append(p.events, i)
	p.owner = s.of[i]
	p.says = p.says || s.says(i)
	p.held = p.held || s.held[i]
	if s.Cost != nil && !p.held { // which renders the event, and what is held goes nowhere
		p.cost += s.Cost(s.Events[i])
	}
}

// covered reports whether a live record stands for the event at position i already.
func (s *survey) covered(i int) bool { return s.Covered != nil && s.Covered(s.Events[i]) }

// says reports whether there is anything to summarize in the event at position i.
func (s *survey) says(i int) bool { return s.Events[i] != nil && conversational(s.Events[i]) }

// readable reports whether a parcel can be summarized: now, and in one call.
func (s *survey) readable(p parcel) bool {
	return !p.held && (s.MaxTokens <= 0 || p.cost <= s.MaxTokens)
}

// window makes a selection of the oldest parcels that the summarizer can read together. One that is
// too large by itself is passed over, or all after it would wait for ever.
func (s *survey) window(branch string, parcels []parcel) Selection {
	sel := Selection{Branch: branch, Reason: NothingEligible, Through: s.newestOf(branch)}
	var taken []int
	cost, says := 0, false
	for _, p := range parcels {
		if !s.readable(p) {
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
func (s *survey) firstCall(i int) int {
	for _, j := range s.units.Of(i) {
		if len(adk.FunctionCalls(s.Events[j])) > 0 {
			return j
		}
	}
	return -1
}

// newestOf returns the newest event of a branch.
func (s *survey) newestOf(branch string) *session.Event {
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
func (s *survey) absorb(sel *Selection, finished map[*invocation]bool) {
	if sel.Empty() {
		return
	}
	for _, m := range s.Live {
		if v := s.byID[m.EndInvocationID]; m.MidTurn() && m.Branch == record.Normalize(sel.Branch) && v != nil && finished[v] {
			sel.Absorb = append(sel.Absorb, m)
			sel.Tokens += promptsize.OfSummary(m)
		}
	}
}

// grown empties a selection that has not reached the size it must have to be tried again.
func (s *survey) grown(sel Selection) Selection {
	if sel.Empty() || s.MinTokens == nil || sel.Tokens >= s.MinTokens(sel.Key()) {
		return sel
	}
	return Selection{Reason: TooSmall, Branch: sel.Branch, Through: sel.Through}
}
