package selector

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// MaxWaiting is how many long-running calls and confirmations that nobody has answered yet are kept raw
// in a session, whatever their age. Where there are more, the oldest are given up: they are covered as
// what they are, never answered. (More than a person keeps open at a time, and at some 100 tokens each
// less than a tenth of the smallest usual context window.)
const MaxWaiting = 64

// analysis holds what all selections from one history need to know.
type analysis struct {
	Input
	Params
	class       []adk.Class // of each event
	units       *adk.Units
	index       *record.Index
	invocations []*invocation // in the order in which they began
	byID        map[string]*invocation
	// of gives the invocation of each event. An event that belongs to none of its own (no ID, or an
	// invocation that only changes state) goes with its neighbour in the branch.
	of     []*invocation
	pinned []bool
	// speakers are who spoke last in a branch, made when first asked for.
	speakers map[string]*lastSpeakers
	// held marks the events that only an open call keeps.
	held []bool

	// newest holds the newest event of each branch; made when first asked for.
	newest map[string]*session.Event

	// offered holds, for each candidate of the latest of so many offers, its number.
	offered []int
	offers  int

	// givenUp marks the events of units that wait for somebody and are kept raw no longer; interrupted
	// marks those with calls whose results will not come, unless their invocation runs after all.
	givenUp, interrupted map[int]bool
}

// analyze prepares selections from one history. It reads, and changes nothing.
func analyze(h Input, p Params) *analysis {
	s := &analysis{Input: h, Params: p, units: adk.GroupUnits(h.Events), index: record.NewIndex(h.Events)}
	s.class = make([]adk.Class, len(h.Events))
	for i, ev := range h.Events {
		s.class[i] = adk.Classify(ev)
	}
	s.findInvocations()
	s.pin()
	return s
}

// MustStayInPlace returns whether a live record is the summary of tool rounds that must stay where it stands:
// of the agent who speaks, in an invocation that may still send prompts. All other summaries may go to
// the front.
func MustStayInPlace(h Input, p Params) func(*record.Metadata) bool {
	return analyze(h, p).mustStayInPlace
}
