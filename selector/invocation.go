package selector

import (
	"cmp"
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// invocation is one run of the agents.
type invocation struct {
	id        string
	ordinal   int  // by first event
	first     int  // position in Input.Events
	displaced bool // only what the view shows later than it happened is left of it
	opening   int  // first user event; -1
	turn      int  // last event that is a user's words rather than a tool response; -1
	answer    bool // the latest conversational event is an agent's answer
	newest    bool
	running   bool
}

// began returns what invocations are ordered by. What only late answers keep in view began before
// all that is where it happened.
func (v *invocation) began() int {
	if v.displaced {
		return -1
	}
	return v.first
}

// complete reports whether there is nothing left to wait for. An answer counts for more than being
// known to run, because the end of a run becomes known late; so does having been summarized.
func (v *invocation) complete() bool { return v.answer || !v.newest && (!v.running || v.displaced) }

// active reports whether the invocation may still send prompts of which its opening must be part.
func (v *invocation) active() bool { return !v.complete() || v.newest }

// findInvocations lists the runs that say something.
func (s *analysis) findInvocations() {
	s.byID = map[string]*invocation{}
	for i, ev := range s.Events {
		if !s.class[i].Is(adk.Speaks) || ev.InvocationID == "" {
			continue
		}
		v := s.byID[ev.InvocationID]
		if v == nil {
			v = &invocation{id: ev.InvocationID, first: -1, opening: -1, turn: -1}
			v.running = s.Running != nil && s.Running(v.id)
			s.byID[v.id] = v
			s.invocations = append(s.invocations, v)
		}
		if v.first < 0 || v.displaced && !s.displaced(i) {
			v.first, v.displaced = i, s.displaced(i)
		}
		v.answer = s.class[i].Is(adk.EndsTurn) || v.answer && s.displaced(i)
		if s.class[i].Is(adk.ByUser) {
			if v.opening < 0 {
				v.opening = i
			}
			if !s.class[i].Is(adk.Responds) {
				v.turn = i
			}
		}
	}
	slices.SortStableFunc(s.invocations, func(a, b *invocation) int { return cmp.Compare(a.began(), b.began()) })
	for n, v := range s.invocations {
		v.ordinal, v.newest = n, n == len(s.invocations)-1
	}
	s.attach()
}

// displaced reports whether the view may show the event at position i later than it happened, beside a
// late answer.
func (s *analysis) displaced(i int) bool {
	unit := s.units.Of(i)
	return unit != nil && s.Events[unit[len(unit)-1]].InvocationID != s.Events[i].InvocationID
}

// attach finds the invocation of each event: its own, else that of its neighbour in the branch, the
// one before if there is one; nil where nothing in the branch says anything.
func (s *analysis) attach() {
	s.of = make([]*invocation, len(s.Events))
	near := map[string]*invocation{} // by branch
	pass := func(i int) {
		ev := s.Events[i]
		if ev == nil {
			return
		}
		if s.of[i] == nil {
			s.of[i] = s.byID[ev.InvocationID]
		}
		if s.of[i] == nil {
			s.of[i] = near[ev.Branch]
		}
		near[ev.Branch] = s.of[i]
	}
	for i := range s.Events {
		pass(i)
	}
	clear(near)
	for i := len(s.Events) - 1; i >= 0; i-- {
		pass(i)
	}
}
