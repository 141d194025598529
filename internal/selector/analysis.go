package selector

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// MaxWaiting is how many units stay raw in a session because they wait for a person: for the answer
// to a long-running call, or for a confirmation. Age does not matter. Beyond that the oldest are
// given up: their calls are summarized as never answered. 64 is more than a person keeps open at a
// time. At some 100 tokens each, these units take up less than a tenth of the smallest usual
// context window.
const MaxWaiting = 64

// analysis is the data that every selection from one input needs. Its slices are indexed by the
// position of an event in Input.Events.
type analysis struct {
	Input
	Params
	class       []adk.Class
	units       *adk.Units
	index       *record.Index
	invocations []*invocation // in the order in which they began
	byID        map[string]*invocation
	speaking    *invocation // of the latest event that speaks
	// of is the invocation of each event. An event without an invocation of its own, because it has
	// no invocation ID or its invocation only changes state, goes with its neighbor in the branch.
	of []*invocation

	// pinned marks the events that stay raw. held marks those that stay only because of an open
	// call in their unit: they are the reason for [Blocked].
	pinned, held []bool
	// givenUp marks the members of units that wait for a person but no longer stay raw, see
	// [MaxWaiting]. interrupted marks the events with calls whose tools will not return, unless
	// their invocation turns out to be running after all.
	givenUp, interrupted map[int]bool

	// The fields below are computed on first use.

	// speakers are the latest speakers that an agent in each branch sees.
	speakers map[string]*lastSpeakers
	// newest is the newest event of each branch.
	newest map[string]*session.Event
	// offered[i] is the number of the latest set of candidates that event i was in; offers counts
	// the sets. So a new set costs no clearing.
	offered []int
	offers  int
}

// analyze prepares selections from one input.
func analyze(h Input, p Params) *analysis {
	if p.Shared == nil || len(h.Events) == 0 {
		return newAnalysis(h, p)
	}
	key := sharedKey{&h.Events[0], len(h.Events), len(h.Current), p.Left, p.inTurn}
	a := p.Shared.made[key]
	if a == nil {
		a = newAnalysis(h, p)
		if p.Shared.made == nil {
			p.Shared.made = map[sharedKey]*analysis{}
		}
		p.Shared.made[key] = a
	}
	a.Params = p
	return a
}

// Shared keeps what selections from one view have in common, which takes as long, and as much memory, as the view has
// events: there may be a selection for each branch. Make a new one for each view. The zero value is ready to use. It is not
// safe for concurrent use.
type Shared struct{ made map[sharedKey]*analysis }

// sharedKey has what differs between the inputs and the settings of selections that share a [Shared], of all that an
// analysis depends on.
type sharedKey struct {
	events          **session.Event // the first
	number, current int             // of events and of records
	left, inTurn    bool
}

func newAnalysis(h Input, p Params) *analysis {
	a := &analysis{Input: h, Params: p, units: adk.GroupUnits(h.Events), index: record.NewIndex(h.Events)}
	a.class = make([]adk.Class, len(h.Events))
	for i, ev := range h.Events {
		a.class[i] = adk.Classify(ev)
	}
	a.findInvocations()
	pinner{a}.pin()
	return a
}

// speaks reports whether event i has anything to summarize, as opposed to a change of state.
func (a *analysis) speaks(i int) bool { return a.class[i].Is(adk.Speaks) }

// covered reports whether a current record stands for event i already.
func (a *analysis) covered(i int) bool { return a.Covered != nil && a.Covered(a.Events[i]) }

// mustStayInPlace returns a function that reports whether the summary of a current record must stay
// behind the event that it is shown behind. That holds for the tool rounds of an agent that is
// still speaking, in an invocation that may still send prompts. All other summaries may move to the
// front. The returned function is not safe for concurrent use.
func mustStayInPlace(h Input, p Params) func(*record.Metadata) bool {
	return analyze(h, p).mustStayInPlace
}
