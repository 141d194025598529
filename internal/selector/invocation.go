package selector

import (
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// invocation is one run of the agents, with its events that speak. Positions are those of
// Input.Events, -1 for none.
type invocation struct {
	id      string
	ordinal int  // its number in the order in which invocations began, or were resumed
	first   int  // its first event
	opening int  // its first user event
	turn    int  // the user's latest message in it that is no tool response
	answer  bool // its latest event that speaks is an agent's answer
	newest  bool
	running bool // it is known to be running in this process
}

// complete reports whether no more events are to come. An answer outweighs the information that the
// invocation is running, because the service learns late that a run has ended. So does an opening that
// was summarized already, with the answer: what is left is a call that waited longer.
func (v *invocation) complete() bool { return v.answer || !v.newest && (!v.running || v.opening < 0) }

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
			v = &invocation{id: ev.InvocationID, first: i, opening: -1, turn: -1}
			v.running = a.Running != nil && a.Running(v.id)
			a.byID[v.id] = v
			a.invocations = append(a.invocations, v)
		} else if adk.ResumesRuns && a.class[i].Is(adk.ByUser) && v != a.invocations[len(a.invocations)-1] {
			// A person answers a call of it: it goes on, and is the newest again.
			a.invocations = append(slices.DeleteFunc(a.invocations, func(other *invocation) bool { return other == v }), v)
		}
		a.speaking = v
		v.answer = a.class[i].Is(adk.EndsTurn)
		if a.class[i].Is(adk.ByUser) {
			if v.opening < 0 {
				v.opening = i
			}
			if !a.class[i].Is(adk.Responds) {
				v.turn = i
			}
		}
	}
	for n, v := range a.invocations {
		v.ordinal, v.newest = n, n == len(a.invocations)-1
	}
	if a.Left {
		a.endLeft()
	}
	a.attach()
}

// endLeft takes the invocations that the user has left for over, see [Params.Left].
func (a *analysis) endLeft() {
	waits := map[*invocation]bool{} // for a tool
	for _, m := range a.units.Missing() {
		if v := invocationOf(a, m.Event); v != nil && !m.Waits {
			waits[v] = true
		}
	}
	seen := map[*invocation]bool{}
	var next *invocation // the user has written in it behind the event
	left := false        // the user has written in two invocations behind it
	for i := len(a.Events) - 1; i >= 0; i-- {
		v := invocationOf(a, i)
		if v == nil {
			continue
		}
		if !seen[v] {
			seen[v] = true
			v.running = v.running && (waits[v] || !left && (next == nil || next == v))
		}
		if a.class[i].Is(adk.ByUser) && !a.class[i].Is(adk.Responds) {
			left = left || next != nil && next != v
			next = v
		}
	}
}

// invocationOf returns the invocation of an event that speaks, nil for any other.
func invocationOf(a *analysis, i int) *invocation {
	if a.Events[i] == nil || !a.class[i].Is(adk.Speaks) {
		return nil
	}
	return a.byID[a.Events[i].InvocationID]
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
			a.of[i] = near[adk.Lane(ev)]
		}
		near[adk.Lane(ev)] = a.of[i]
	}
	for i := range a.Events {
		pass(i)
	}
	clear(near)
	for i := len(a.Events) - 1; i >= 0; i-- {
		pass(i)
	}
}
