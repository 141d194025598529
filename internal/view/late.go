package view

import (
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// findLateAnswers finds the units whose latest response belongs to a later invocation than their call.
// The view shows the rest of such a unit directly in front of that response, because ADK deletes every
// event between the two that is neither a call nor a response. For example,
//
//	e1  call c, a long-running tool     shown in front of e3
//	e2  agent: I will let you know.
//	e3  response to c, one turn later
func (l *layout) findLateAnswers() {
	l.units.Each(func(members []int) {
		last := l.lateResponse(members)
		for _, i := range members {
			if i < last {
				put(&l.isLate, i, true)
				put(&l.lateBefore, last, append(l.lateBefore[last], i))
			}
		}
	})
}

// lateResponse returns the latest response of a unit if a call of another invocation comes before it,
// else -1.
func (l *layout) lateResponse(members []int) int {
	if first := l.events[members[0]].InvocationID; !slices.ContainsFunc(members, func(i int) bool { return l.events[i].InvocationID != first }) {
		return -1
	}
	last := -1
	for _, i := range members {
		if adk.Classify(l.events[i]).Is(adk.Responds) {
			last = i
		}
	}
	for _, i := range members {
		if i < last && adk.Classify(l.events[i]).Is(adk.Calls) && l.events[i].InvocationID != l.events[last].InvocationID {
			return last
		}
	}
	return -1
}
