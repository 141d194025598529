package selector

import (
	"cmp"
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// invocation is one run of the agents, with its events that speak. Positions are those of
// Input.Events, -1 for none.
type invocation struct {
	id        string
	ordinal   int  // its number in the order in which invocations began
	first     int  // its first event; one that is not displaced, if there is any
	displaced bool // all events that are left of it are displaced
	opening   int  // its first user event
	turn      int  // the user's latest message in it that is no tool response
	answer    bool // its latest event that speaks is an agent's answer
	newest    bool
	running   bool // it is known to be running in this process
}

// began is the key by which invocations are sorted. An invocation with only displaced events left
// sorts to the front, because everything around them happened later.
func (v *invocation) began() int {
	if v.displaced {
		return -1
	}
	return v.first
}

// complete reports whether no more events are to come. An answer outweighs the information that the
// invocation is running, because the service learns late that a run has ended. The same holds for
// an invocation that was summarized already, so a displaced invocation is complete.
func (v *invocation) complete() bool { return v.answer || !v.newest && (!v.running || v.displaced) }

// active reports whether the invocation may still send prompts. Its opening must be part of them.
func (v *invocation) active() bool { return !v.complete() || v.newest }

// findInvocations lists the invocations that have an event that speaks.
func (a *analysis) findInvocations() {
	a.byID = map[string]*invocation{}
	for i, ev := range a.Events {
		if !a.class[i].Is(adk.Speaks) || ev.InvocationID == "" {
			continue
		}
		v := a.byID[ev.InvocationID]
		if v == nil {
			v = &invocation{id: ev.InvocationID, first: -1, opening: -1, turn: -1}
			v.running = a.Running != nil && a.Running(v.id)
			a.byID[v.id] = v
			a.invocations = append(a.invocations, v)
		}
		if v.first < 0 || v.displaced && !a.displaced(i) {
			v.first, v.displaced = i, a.displaced(i)
		}
		a.speaking = v
		v.answer = a.class[i].Is(adk.EndsTurn) || v.answer && a.displaced(i)
		if a.class[i].Is(adk.ByUser) {
			if v.opening < 0 {
				v.opening = i
			}
			if !a.class[i].Is(adk.Responds) {
				v.turn = i
			}
		}
	}
	slices.SortStableFunc(a.invocations, func(a, b *invocation) int { return cmp.Compare(a.began(), b.began()) })
	for n, v := range a.invocations {
		v.ordinal, v.newest = n, n == len(a.invocations)-1
	}
	a.attach()
}

// displaced reports whether the view may show event i later than it happened: next to the late
// answer to its unit.
//
//	e1 bot,  inv 1: calls ship(), long-running    displaced: the view shows e1 directly before e3
//	e2 user, inv 2: "And the weather?"
//	e3 user, inv 3: the response "shipped"
func (a *analysis) displaced(i int) bool {
	unit := a.units.Of(i)
	return unit != nil && a.Events[unit[len(unit)-1]].InvocationID != a.Events[i].InvocationID
}

// attach finds the invocation of each event. If an event's own invocation never speaks, the event
// goes with the one before it in its branch, or with the one after it if it is the first. The
// invocation is nil if no event of the branch speaks.
func (a *analysis) attach() {
	a.of = make([]*invocation, len(a.Events))
	near := map[string]*invocation{} // of the latest event seen, by branch
	pass := func(i int) {
		ev := a.Events[i]
		if ev == nil {
			return
		}
		if a.of[i] == nil {
			a.of[i] = a.byID[ev.InvocationID]
		}
		if a.of[i] == nil {
			a.of[i] = near[ev.Branch]
		}
		near[ev.Branch] = a.of[i]
	}
	for i := range a.Events {
		pass(i)
	}
	clear(near)
	for i := len(a.Events) - 1; i >= 0; i-- {
		pass(i)
	}
}
