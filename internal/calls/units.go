package calls

import (
	"google.golang.org/adk/session"
)

// Units groups the events of one history. It is immutable once made.
type Units struct {
	events []*session.Event
	// parent is a union-find forest over event positions; nil where no event has a call or response.
	parent []int32
	sites  []site
	// members holds the positions of each unit's events, ascending, by the unit's root.
	members map[int32][]int
	open    map[int32]bool
}

// site is one function call.
type site struct {
	event    int32
	id       string
	patient  bool // needs a true answer, see Answers
	answered bool
	truly    bool
}

type branchID struct{ branch, id string }

// Group finds the units of a history. Events may be nil.
//
// A response belongs to the nearest earlier call of its ID, first of its own branch, since providers
// count their IDs up from one in every request; else to any call of that ID. A call without an ID is
// never answered: nothing tells which response is its own.
func Group(events []*session.Event) *Units {
	u := &Units{events: events}
	byBranch := map[branchID]int32{}
	byID := map[string]int32{}
	type orphan struct {
		event int32
		id    string
	}
	var orphans []orphan
	confirmed := map[string]bool{}
	for i, ev := range events {
		for _, response := range ResponsesIn(ev) {
			s, ok := byBranch[branchID{ev.Branch, response.ID}]
			if !ok {
				s, ok = byID[response.ID]
			}
			if ok {
				u.answer(s, int32(i))
			} else {
				orphans = append(orphans, orphan{int32(i), response.ID})
				u.touch(int32(i))
			}
		}
		for _, call := range In(ev) {
			s := int32(len(u.sites))
			u.sites = append(u.sites, site{event: int32(i), id: call.ID, patient: needsTrueAnswer(ev, call)})
			byBranch[branchID{ev.Branch, call.ID}] = s
			byID[call.ID] = s
			u.touch(int32(i))
			if id := confirmedCall(call); id != "" {
				confirmed[id] = true
			}
		}
		if ev != nil {
			for id := range ev.Actions.RequestedToolConfirmations {
				confirmed[id] = true
			}
		}
	}
	for _, o := range orphans {
		if s, ok := byID[o.id]; ok {
			u.answer(s, o.event)
		}
	}
	u.finish(confirmed)
	return u
}

// Of returns the positions of the events in the unit of event i, ascending, i among them; nil for an
// event without calls and responses. The slice must not be changed.
func (u *Units) Of(i int) []int {
	if u.parent == nil || u.parent[i] < 0 {
		return nil
	}
	return u.members[u.find(int32(i))]
}

// Open reports whether the unit of event i still waits for an answer.
func (u *Units) Open(i int) bool {
	if u.parent == nil || u.parent[i] < 0 {
		return false
	}
	return u.open[u.find(int32(i))]
}

// Each calls f once for every unit.
func (u *Units) Each(f func(members []int)) {
	for _, members := range u.members {
		f(members)
	}
}

func (u *Units) answer(s, event int32) {
	call := &u.sites[s]
	u.touch(event)
	u.union(call.event, event)
	if call.id == "" {
		return
	}
	call.answered = true
	call.truly = call.truly || Answers(u.events[call.event], u.events[event])
}

// finish lists the members of each unit and finds the open ones; confirmed holds the IDs of calls
// that a user was asked to confirm.
func (u *Units) finish(confirmed map[string]bool) {
	if u.parent == nil {
		return
	}
	u.members = map[int32][]int{}
	for i := range u.events {
		if u.parent[i] >= 0 {
			root := u.find(int32(i))
			u.members[root] = append(u.members[root], i)
		}
	}
	u.open = map[int32]bool{}
	for _, s := range u.sites {
		patient := s.patient || confirmed[s.id]
		if !s.answered || patient && !s.truly {
			u.open[u.find(s.event)] = true
		}
	}
}

// touch makes event a unit of its own, unless it is in one already.
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

func (u *Units) find(i int32) int32 {
	for u.parent[i] != i {
		u.parent[i] = u.parent[u.parent[i]]
		i = u.parent[i]
	}
	return i
}

func (u *Units) union(a, b int32) { u.parent[u.find(a)] = u.find(b) }
