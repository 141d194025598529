package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// findRemoteWords finds the words of remote agents that are shown in front of a summary: the first
// one that ends later. ADK sends a remote agent only what comes after that agent's newest event, so
// the agent would never receive a summary in front of that event. For example,
//
//	e1  remote agent: The flight is booked.   shown in front of the summary
//	e2  user and another agent talk on
//	r   record that covers e2
//
// ADK then sends that agent everything behind its words, also what had been said before them. An answer of the user to a
// call would reach an agent that does not know the call, and an ADK on that side would say nothing. So words behind a
// visible answer stay in their place, and their author does not receive the summary as long as that answer is visible.
func (l *layout) findRemoteWords(front []*summary) {
	if len(front) == 0 {
		return
	}
	for i, ev := range l.events {
		if l.hidden[i] {
			continue
		}
		class := adk.Classify(ev)
		if class.Is(adk.ByUser | adk.Responds) {
			return
		}
		if !isRemoteWords(ev, class) {
			continue
		}
		if k := slices.IndexFunc(front, func(s *summary) bool { return s.endsAfter(ev) }); k >= 0 {
			put(&l.aheadOf, front[k], append(l.aheadOf[front[k]], i))
			put(&l.isAhead, i, true)
		}
	}
}

// isRemoteWords reports whether an event is by a remote agent and has neither calls nor responses,
// which would tie it to a unit.
func isRemoteWords(ev *session.Event, class adk.Class) bool {
	return class.Is(adk.ByAgent|adk.Remote) && !class.Any(adk.Calls|adk.Responds) && !record.Is(ev)
}
