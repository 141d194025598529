package adk

import (
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Units groups the events of one history, or of its end. It is immutable once made.
type Units struct {
	// events are those grouped, the first of them at position from of the history. Positions are
	// relative to it, but for the members.
	events []*session.Event
	from   int
	// parent is a union-find forest over event positions while the units are found, then the number of
	// each event's unit; -1 where an event has neither call nor response, nil where none has.
	parent []int32
	sites  []site
	// members holds the positions of all units' events, unit after unit, in order of their first
	// events; the positions of unit n end at ends[n].
	members []int
	ends    []int32
	state   []state
	patient []bool
	// last is the last call of each branch and ID.
	last    map[CallKey]int32
	orphans []string
	strays  bool
}

// CallKey is what tells calls apart, as far as anything does.
type CallKey struct{ Branch, ID string }

// site is one function call.
type site struct {
	event    int32
	call     *genai.FunctionCall
	patient  bool // needs a true answer, see Answers
	answered bool
	truly    bool
	over     bool // nothing answers it, and its invocation is over
}

// state says what a unit waits for. A larger one prevails.
type state uint8

const (
	done    state = iota
	running       // a tool that may still return
	waiting       // a true answer, see Answers
)

// Of returns the positions of the events in the unit of event i, ascending, i among them; nil for an
// event without calls and responses. The slice must not be changed.
func (u *Units) Of(i int) []int {
	n := u.number(i)
	if n < 0 {
		return nil
	}
	return u.unit(n)
}

// Open reports whether the unit of event i still waits for an answer. A unit whose tools were
// interrupted does not: their answers will not come.
func (u *Units) Open(i int) bool {
	n := u.number(i)
	return n >= 0 && u.state[n] != done
}

// Patient reports whether the unit of event i has a call of a kind that may wait: long-running, or to be
// confirmed, answered or not.
func (u *Units) Patient(i int) bool {
	n := u.number(i)
	return n >= 0 && u.patient[n]
}

// Waiting reports whether the unit of event i waits for the answer to a long-running call or for the
// decision on a confirmation. Such an answer may come at any time, from the user for instance.
func (u *Units) Waiting(i int) bool {
	n := u.number(i)
	return n >= 0 && u.state[n] == waiting
}

// number returns the number of the unit of event i, -1 if it is in none.
func (u *Units) number(i int) int32 {
	if u.parent == nil || i < u.from {
		return -1
	}
	return u.parent[i-u.from]
}

// Pending yields the branch and ID of the calls that nothing answers, and the position of each; of calls
// that share both, the last one only, and not if that one is answered.
func (u *Units) Pending() iter.Seq2[CallKey, int] {
	return func(yield func(CallKey, int) bool) {
		for name, s := range u.last {
			if call := u.sites[s]; !call.answered && !yield(name, u.from+int(call.event)) {
				return
			}
		}
	}
}

// Orphans returns the IDs of the responses, and of the requests for a confirmation, that no call
// precedes, whether one follows them or not.
func (u *Units) Orphans() []string { return u.orphans }

// Strays reports whether some response, or some request for a confirmation, has no call of its ID
// before it in its own branch.
func (u *Units) Strays() bool { return u.strays }

// Each calls f once for every unit, in order of their first events.
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
