package view

import (
	"github.com/adk-go-ext/longsession/internal/adk"
)

// freeSummaries puts a summary of tool rounds in front if it would be shown between a call and a late answer to
// that call, a response from another invocation, or from the same one if that was resumed. If a prompt ends with such an answer, ADK leaves out every event
// between the two that is neither a call nor a response. It keeps the rounds that the summary stands for, so it
// must not lose the summary. For example,
//
//	e1  call c, a long-running tool
//	e2  user: And now compare all offers.     the anchor of r, until e9 comes
//	r   mid-turn record of e3 to e8
//	e9  response to c                         from here on, r is shown in front of e1
//
// The events themselves stay where they are stored: ADK derives from their order which agent the next message is
// for, where a prompt begins, and which calls a person has confirmed.
func (l *layout) freeSummaries() {
	for _, s := range l.current {
		if s.anchor >= 0 && l.isBeforeLateAnswer(l.lastAdjacent(s.anchor)) {
			s.anchor = -1
		}
	}
}

// isBeforeLateAnswer reports whether event i is a visible call with a late answer, or lies between the two.
func (l *layout) isBeforeLateAnswer(i int) (found bool) {
	l.units.Each(func(members []int) {
		last := len(members) - 1
		for last >= 0 && !adk.Classify(l.events[members[last]]).Is(adk.Responds) {
			last--
		}
		if found || last < 0 || members[last] <= i || l.hidden[members[last]] {
			return
		}
		for _, j := range members {
			if j <= i && adk.Classify(l.events[j]).Is(adk.Calls) && (adk.ResumesRuns || l.events[j].InvocationID != l.events[members[last]].InvocationID) {
				found = true
			}
		}
	})
	return found
}
