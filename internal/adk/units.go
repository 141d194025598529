package adk

import (
	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Units are the units of one list of events. They are immutable once made.
type Units struct {
	events []*session.Event
	// parent is a union-find forest over events while the units are found. After that it holds the
	// number of each event's unit: -1 for an event without calls and responses. It is nil if no
	// event has any.
	parent []int32
	sites  []site
	// members are the positions of the events of all units, unit after unit, in the order of their
	// first events. Those of unit n end at ends[n].
	members []int
	ends    []int32
	state   []state
	patient []bool
	// last is the last call of each key, as an index of sites.
	last    map[CallKey]int32
	orphans []string
}

// CallKey is the key by which a response finds its call. It does not identify a call, because
// providers reuse IDs.
type CallKey struct{ Branch, ID string }

// site is one function call, with the state of its responses.
type site struct {
	event    int32
	call     *genai.FunctionCall
	patient  bool // its first response is only a placeholder, see settles
	answered bool
	truly    bool // some response is more than the placeholder
	over     bool // no response exists, and its invocation is over
}

// state is what a unit waits for. Of several calls, the one with the largest state decides.
type state uint8

const (
	done    state = iota // for nothing
	running              // for a tool that may still return
	waiting              // for a person, or for the answer to a long-running call
)

// Of returns the positions of the events in the unit of event i, in ascending order. It returns nil
// for an event without calls and responses. The caller must not change the slice.
func (u *Units) Of(i int) []int {
	n := u.number(i)
	if n < 0 {
		return nil
	}
	return u.unit(n)
}

// Open reports whether the unit of event i still waits for an answer. A unit whose tools were
// interrupted waits for nothing, because their responses will not come.
func (u *Units) Open(i int) bool {
	n := u.number(i)
	return n >= 0 && u.state[n] != done
}

// Patient reports whether the unit of event i has a call that may wait: one that is long-running,
// or that a person must confirm. It makes no difference whether the call has been answered.
func (u *Units) Patient(i int) bool {
	n := u.number(i)
	return n >= 0 && u.patient[n]
}

// Waiting reports whether the unit of event i waits for the answer to a long-running call, or for a
// person's decision on a confirmation. Such an answer may come at any time.
func (u *Units) Waiting(i int) bool {
	n := u.number(i)
	return n >= 0 && u.state[n] == waiting
}

// number returns the number of the unit of event i, -1 if the event is in no unit.
func (u *Units) number(i int) int32 {
	if u.parent == nil {
		return -1
	}
	return u.parent[i]
}

// Orphans returns the IDs of the responses, and of the requests for a confirmation, that have no
// call before them. A call behind them may still exist: clocks differ, and some backends sort by
// time.
func (u *Units) Orphans() []string { return u.orphans }

// Each calls f once for each unit, in the order of their first events, with the positions of its
// members.
func (u *Units) Each(f func(members []int)) {
	for n := range u.ends {
		f(u.unit(int32(n)))
	}
}

func (u *Units) unit(n int32) []int {
	from := int32(0)
	if n > 0 {
		from = u.ends[n-1]
	}
	return u.members[from:u.ends[n]:u.ends[n]]
}
