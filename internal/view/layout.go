package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// layout is one pass over a working set. It decides which events are hidden, and in which order the
// others are shown. All positions in it, and the anchors of summaries, are indexes into the working
// set.
type layout struct {
	*projection
	events   []*session.Event
	hidden   []bool
	units    *adk.Units
	standIns map[int]*session.Event

	// The words of remote agents that are shown in front, and for each summary those in front of it.
	isAhead map[int]bool
	aheadOf map[*summary][]int
	// behind are the summaries that are shown behind an anchor.
	behind map[int][]*summary
	// due are the summaries whose anchor has been shown. They wait until the anchor's unit ends, at
	// end, because text must not come between a call and its response.
	due []*summary
	end int
}

// complete computes the view of p.working, and reduces p.working to the visible events. made are
// the stand-ins of an earlier view of the same session.
func (p *projection) complete(made map[*session.Event]*session.Event) {
	l := &layout{projection: p, events: p.working.events, hidden: make([]bool, len(p.working.events))}
	for i, ev := range l.events {
		l.hidden[i] = p.working.isCovered(i) || invisible(ev)
	}
	l.anchorSummaries()
	p.keepsUser, p.keepsAgent = l.keepNewest(opens), l.keepNewest(speaksAsAgent)
	p.keepsRun = l.keepRun()
	l.units = adk.GroupSomeUnits(l.events, p.isOvertaken)
	p.orphans = nil
	for _, id := range l.units.Orphans() {
		put(&p.orphans, id, true)
	}
	l.completeUnits()
	l.freeSummaries()
	l.findMissing(made)
	l.arrange()
	p.working = p.working.without(l.hidden)
	p.settled = len(p.working.events)
	p.asks = slices.ContainsFunc(l.events, func(ev *session.Event) bool { return len(adk.RequestedConfirmations(ev)) > 0 })
}

// isOvertaken reports whether a message of the user that is not in the working set ended the
// invocation of an event with calls.
func (p *projection) isOvertaken(ev *session.Event) bool {
	return p.standIns[ev] != nil || p.gaps != nil && p.gaps.overtaken != nil && p.gaps.overtaken(ev)
}

// anchorSummaries finds the anchor of each mid-turn summary, the event that it is shown behind, and
// keeps the anchor visible. The anchor is the event that the record names, or else the one that opened
// the invocation. A summary without either is shown in front, like any other. For example,
//
//	e1     user: Compare all offers.       the anchor of r
//	e2-e9  calls and responses             hidden
//	r      mid-turn record of e2-e9, which names e1
//	e10    call
//
// is shown as e1, the summary, e10. ADK begins the prompts of some agents at the last event that the
// user or another agent wrote, so the model would not see a summary in front of e1.
func (l *layout) anchorSummaries() {
	for _, s := range l.current {
		s.anchor = -1
		if !s.meta.MidTurn() {
			continue
		}
		if s.after >= 0 {
			s.anchor = l.working.index(int(s.after))
		} else {
			s.anchor = slices.IndexFunc(l.events, func(ev *session.Event) bool {
				return opens(ev, adk.Classify(ev)) && ev.InvocationID == s.meta.StartInvocationID
			})
		}
		if s.anchor >= 0 {
			l.hidden[s.anchor] = false
		}
	}
}

// opens reports whether an event may open an invocation.
func opens(ev *session.Event, class adk.Class) bool {
	return class.Is(adk.ByUser) && ev.Content != nil && !record.Is(ev)
}

func speaksAsAgent(ev *session.Event, class adk.Class) bool {
	return class.Is(adk.ByAgent) && !record.Is(ev)
}

// keepNewest shows the newest event of a kind, and reports whether it would be hidden otherwise.
// ADK answers the newest event of the user, and uses the newest event of an agent for routing. The
// selector never chooses these two, but a record from elsewhere may cover them.
func (l *layout) keepNewest(is func(*session.Event, adk.Class) bool) (hidden bool) {
	if i := l.newest(is); i >= 0 {
		hidden, l.hidden[i] = l.hidden[i], false
	}
	return hidden
}

// newest returns the position of the newest event of a kind, -1 if there is none.
func (l *layout) newest(is func(*session.Event, adk.Class) bool) int {
	for i, ev := range slices.Backward(l.events) {
		if is(ev, adk.Classify(ev)) {
			return i
		}
	}
	return -1
}

// keepRun shows what ADK reads to go on with a workflow, see [adk.RunEvents], if the newest message of the user goes on with
// one, and reports whether any of it would be hidden otherwise. It is what there was when the user answered, so it stays the
// same while the workflow runs. For example,
//
//	e1  user: Book a table.            shown again
//	e2  node find: "Casa Lola"         shown again: it is what the next node is given
//	e3  node ask: call c               shown all the time
//	e4  user: Wait. What time is it?   in another invocation
//	r   record that covers e1 and e2
//	e5  user: the response to c, in the invocation of e1
func (l *layout) keepRun() (hidden bool) {
	answer := adk.Resumed(l.events)
	if answer < 0 {
		return false
	}
	for _, i := range adk.RunEvents(l.events[:answer], func(id string) bool { return id == l.events[answer].InvocationID }) {
		if l.hidden[i] && !invisible(l.events[i]) {
			hidden, l.hidden[i] = true, false
		}
	}
	return hidden
}

// completeUnits shows a unit as a whole if any part of it is visible. For example, if a record
// covers the call e1 but not its response e2, e1 is shown as well: providers refuse a response
// without its call.
func (l *layout) completeUnits() {
	if !slices.Contains(l.hidden, true) {
		return
	}
	l.units.Each(func(members []int) {
		if slices.ContainsFunc(members, func(i int) bool { return !l.hidden[i] }) {
			for _, i := range members {
				l.hidden[i] = false
			}
		}
	})
}
