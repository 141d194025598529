package adk

import (
	"google.golang.org/adk/session"
)

// grouping is the work of one pass over a history.
type grouping struct {
	*Units
	byID     map[string]int32 // the last call of each ID in any branch
	requests []string         // IDs of calls that were asked about before they were made
	messages messages
	// unclaimed are the responses that have found no call so far.
	unclaimed []orphan
	scopes    map[string]bool // isolation scopes of events
	workers   map[string]bool // agents that have written in one
}

// orphan is a response that no call precedes.
type orphan struct {
	event int32
	id    string
}

// GroupUnits finds the units of a history. Events may be nil.
//
// A response belongs to the nearest call of its ID before it: first of its own branch, because some
// providers count IDs up from one in every request; else of any branch; else to a call behind it.
// The same holds for a request for a confirmation. A call without an ID is never answered, because
// its response cannot be recognized.
//
//	e1 bot, branch a: calls look() as 1
//	e2 bot, branch b: calls look() as 1
//	e3 bot, branch a: the response to 1     belongs to e1, although e2 is nearer
func GroupUnits(events []*session.Event) *Units { return GroupSomeUnits(events, nil) }

// GroupSomeUnits is [GroupUnits] for a part of a history that holds every unit as a whole or not at
// all. overtaken reports whether some other event of the history is a message of the user that ends
// the invocation of an event with calls, see [Missing]. It may be nil.
func GroupSomeUnits(events []*session.Event, overtaken func(*session.Event) bool) *Units {
	g := &grouping{
		Units: &Units{events: events, last: map[CallKey]int32{}},
		byID:  map[string]int32{},
	}
	for i, ev := range g.events {
		g.read(int32(i), ev)
	}
	for _, o := range g.unclaimed {
		g.orphans = append(g.orphans, o.id)
		if s, ok := g.byID[o.id]; ok {
			g.answer(s, o.event)
		}
	}
	for _, id := range g.requests {
		g.orphans = append(g.orphans, id)
		if s, ok := g.byID[id]; ok {
			g.sites[s].patient = true
		}
	}
	g.markOver(overtaken)
	g.finish()
	return g.Units
}

// read takes in one event. Responses come first, because none of them answers a call of the same
// event.
func (g *grouping) read(i int32, ev *session.Event) {
	for _, part := range parts(ev) {
		if part == nil || part.FunctionResponse == nil {
			continue
		}
		id := part.FunctionResponse.ID
		if s, ok := g.nearest(Lane(ev), id); ok {
			g.answer(s, i)
		} else {
			g.unclaimed = append(g.unclaimed, orphan{i, id})
			g.touch(i)
		}
	}
	for _, part := range parts(ev) {
		if part == nil || part.FunctionCall == nil {
			continue
		}
		call := part.FunctionCall
		if id := ConfirmedCall(call); id != "" {
			g.request(Lane(ev), id)
		}
		if n := len(g.sites); n > 0 && g.sites[n-1].event == i {
			if s, ok := g.last[CallKey{Lane(ev), call.ID}]; ok && g.sites[s].event == i {
				g.sites[s].call = call // two calls of one event with one ID share an answer
				g.sites[s].patient = g.sites[s].patient || needsTrueAnswer(ev, call)
				continue
			}
		}
		s := int32(len(g.sites))
		g.sites = append(g.sites, site{event: i, call: call, patient: needsTrueAnswer(ev, call)})
		g.last[CallKey{Lane(ev), call.ID}] = s
		g.byID[call.ID] = s
		g.touch(i)
	}
	if ev != nil {
		for id := range ev.Actions.RequestedToolConfirmations {
			g.request(Lane(ev), id)
		}
	}
	if ev != nil && ScopeOf(ev) != "" {
		if g.scopes == nil {
			g.scopes, g.workers = map[string]bool{}, map[string]bool{}
		}
		g.scopes[ScopeOf(ev)] = true
		if ev.Author != userAuthor {
			g.workers[ev.Author] = true
		}
	}
	g.messages.note(i, ev)
}

// nearest returns the call that a response of a branch and ID belongs to, among those read so far.
func (g *grouping) nearest(branch, id string) (int32, bool) {
	s, ok := g.last[CallKey{branch, id}]
	if !ok {
		s, ok = g.byID[id]
	}
	return s, ok
}

// request notes that a person was asked to confirm a call.
func (g *grouping) request(branch, id string) {
	if s, ok := g.nearest(branch, id); ok {
		g.sites[s].patient = true
	} else {
		g.requests = append(g.requests, id)
	}
}

// answer notes that an event responds to call s.
func (u *Units) answer(s, event int32) {
	call := &u.sites[s]
	u.touch(event)
	u.union(call.event, event)
	if call.call.ID == "" {
		return
	}
	call.truly = call.truly || settles(u.events[call.event], u.events[event]) || ResumesRuns && call.answered
	call.answered = true
}

// finish numbers the units, lists their members, and determines what each unit waits for.
func (u *Units) finish() {
	if u.parent == nil {
		return
	}
	roots := make([]int32, len(u.parent))
	number := make([]int32, len(u.parent)) // by root, plus one
	for i, parent := range u.parent {
		if parent < 0 {
			continue
		}
		root := u.find(int32(i))
		roots[i] = root
		if number[root] == 0 {
			u.ends = append(u.ends, 0)
			number[root] = int32(len(u.ends))
		}
		u.ends[number[root]-1]++
	}
	u.state, u.patient = make([]state, len(u.ends)), make([]bool, len(u.ends))
	for _, s := range u.sites {
		n := number[roots[s.event]] - 1
		u.patient[n] = u.patient[n] || s.patient
		switch {
		case s.patient && !s.truly:
			u.state[n] = max(u.state[n], waiting)
		case !s.answered && !s.over:
			u.state[n] = max(u.state[n], running)
		}
	}
	total := int32(0)
	for n, size := range u.ends {
		u.ends[n] = total // where the unit begins, for now: it moves to the end as members are added
		total += size
	}
	u.members = make([]int, total)
	for i, parent := range u.parent {
		if parent < 0 {
			continue
		}
		n := number[roots[i]] - 1
		u.members[u.ends[n]] = i
		u.ends[n]++
		u.parent[i] = n
	}
}

// touch makes an event a unit of its own, unless it is in a unit already.
func (u *Units) touch(event int32) {
	if u.parent == nil {
		u.parent = make([]int32, len(u.events))
		for i := range u.parent {
			u.parent[i] = -1
		}
	}
	if u.parent[event] < 0 {
		u.parent[event] = event
	}
}

// find returns the root of an event's tree, and shortens the path to it.
func (u *Units) find(i int32) int32 {
	for u.parent[i] != i {
		u.parent[i] = u.parent[u.parent[i]]
		i = u.parent[i]
	}
	return i
}

func (u *Units) union(a, b int32) { u.parent[u.find(a)] = u.find(b) }
