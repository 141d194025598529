package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// layout is one pass over a working set, which decides what is hidden and in which order the rest is
// shown. Its slices and maps, and the anchors of summaries, are indexes into the working set.
type layout struct {
	*projection
	events   []*session.Event
	hidden   []bool
	units    *adk.Units
	standIns map[int]*session.Event
}

// complete makes the view of p.working, and reduces p.working to the visible events. made are the
// stand-ins of an earlier view of the same session.
func (p *projection) complete(made map[*session.Event]*session.Event) {
	l := &layout{projection: p, events: p.working.events, hidden: make([]bool, len(p.working.events))}
	for i, ev := range l.events {
		l.hidden[i] = p.working.isCovered(i) || invisible(ev)
	}
	l.anchorSummaries()
	p.keepsUser, p.keepsAgent = l.keepNewest(opens), l.keepNewest(speaksAsAgent)
	l.units = adk.GroupSomeUnits(l.events, p.isOvertaken)
	p.orphans = nil
	for _, id := range l.units.Orphans() {
		put(&p.orphans, id, true)
	}
	l.completeUnits()
	l.findMissing(made)
	l.arrange()
	p.working = p.working.without(l.hidden)
	p.settled = len(p.working.events)
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
				return opens(ev) && ev.InvocationID == s.meta.StartInvocationID
			})
		}
		if s.anchor >= 0 {
			l.hidden[s.anchor] = false
		}
	}
}

// opens reports whether an event may open an invocation.
func opens(ev *session.Event) bool {
	return adk.Classify(ev).Is(adk.ByUser) && ev.Content != nil && !record.Is(ev)
}

func speaksAsAgent(ev *session.Event) bool {
	return adk.Classify(ev).Is(adk.ByAgent) && !record.Is(ev)
}

// keepNewest shows the newest event of a kind, and reports whether it would be hidden otherwise. ADK
// answers the newest event of the user, and routes by the newest event of an agent. The selector never
// chooses these two, but a record from elsewhere may cover them.
func (l *layout) keepNewest(is func(*session.Event) bool) (hidden bool) {
	for i, ev := range slices.Backward(l.events) {
		if is(ev) {
			hidden, l.hidden[i] = l.hidden[i], false
			return hidden
		}
	}
	return false
}

// completeUnits shows every unit of which a part is visible as a whole. For example, if a record
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

// arrange makes the view of what is visible.
func (l *layout) arrange() {
	front, behind := l.summaries()
	late := l.lateAnswers()
	p := l.projection
	p.identity = p.working.at == nil && len(late.before) == 0 && len(l.standIns) == 0 && !slices.ContainsFunc(l.events, invisible)
	if p.identity {
		p.view = p.raw
		return
	}
	p.view = nil
	ahead := l.remoteWords(front)
	for _, s := range front {
		for _, i := range ahead.of[s] {
			p.view = append(p.view, l.events[i])
		}
		p.view = append(p.view, s.event())
	}
	// due are the summaries whose anchor has been shown. They wait until the anchor's unit ends at end,
	// because text must not come between a call and its response.
	var due []*summary
	end := -1
	// show shows event i in the place of event at: another one if i belongs to a late answer.
	show := func(i, at int) {
		if l.hidden[i] {
			return
		}
		if !ahead.displaced[i] { // a displaced event leaves its stand-in and its summaries behind
			p.view = append(p.view, l.events[i])
		}
		if made := l.standIns[i]; made != nil {
			p.view = append(p.view, made)
		}
		if found := behind[i]; len(found) > 0 {
			due = append(due, found...)
			end = max(end, l.lastAdjacent(late.displaced, at))
		}
	}
	for i := range l.events {
		if l.hidden[i] || late.displaced[i] {
			continue
		}
		for _, j := range late.before[i] {
			show(j, i)
		}
		show(i, i)
		if i >= end && len(due) > 0 {
			for _, s := range due {
				p.view = append(p.view, s.event())
			}
			due = nil
		}
	}
	for _, s := range due {
		p.view = append(p.view, s.event())
	}
}

// invisible reports whether an event is never part of a view.
func invisible(ev *session.Event) bool { return ev == nil || record.Is(ev) }

// summaries returns the current summaries in the order of the view: those in front, and those that
// stand behind an event.
func (l *layout) summaries() (front []*summary, behind map[int][]*summary) {
	sorted := slices.Clone(l.current)
	slices.SortFunc(sorted, byStart)
	behind = map[int][]*summary{}
	for _, s := range sorted {
		if s.anchor < 0 {
			front = append(front, s)
		} else {
			behind[s.anchor] = append(behind[s.anchor], s)
		}
	}
	return front, behind
}

// displacement says which events are shown in another place than the backend has them.
type displacement struct {
	displaced map[int]bool
	of        map[*summary][]int // events shown in front of a summary
	before    map[int][]int      // events shown in front of a late response
}

// lateAnswers finds the units whose latest response belongs to a later invocation than their call.
// The view shows the rest of such a unit directly in front of that response, because ADK deletes every
// event between the two that is neither a call nor a response. For example,
//
//	e1  call c, a long-running tool     shown in front of e3
//	e2  agent: I will let you know.
//	e3  response to c, one turn later
func (l *layout) lateAnswers() displacement {
	late := displacement{displaced: map[int]bool{}, before: map[int][]int{}}
	l.units.Each(func(members []int) {
		last := l.lateResponse(members)
		for _, i := range members {
			if i < last {
				late.displaced[i] = true
				late.before[last] = append(late.before[last], i)
			}
		}
	})
	return late
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

// remoteWords finds the words of remote agents that are shown in front of a summary: of the first one
// that ends later. ADK sends a remote agent only what comes after that agent's newest event, so it
// would never learn of a summary in front of that event. For example,
//
//	e1  remote agent: The flight is booked.   shown in front of the summary
//	e2  user and another agent talk on
//	r   record that covers e2
func (l *layout) remoteWords(front []*summary) displacement {
	ahead := displacement{displaced: map[int]bool{}, of: map[*summary][]int{}}
	if len(front) == 0 {
		return ahead
	}
	for i, ev := range l.events {
		if l.hidden[i] || !isRemoteWords(ev) {
			continue
		}
		if k := slices.IndexFunc(front, func(s *summary) bool { return s.endsAfter(ev) }); k >= 0 {
			ahead.of[front[k]] = append(ahead.of[front[k]], i)
			ahead.displaced[i] = true
		}
	}
	return ahead
}

// isRemoteWords reports whether an event is of a remote agent and neither calls nor responds: an event
// that does must stay with its unit.
func isRemoteWords(ev *session.Event) bool {
	class := adk.Classify(ev)
	return class.Is(adk.ByAgent|adk.Remote) && !class.Any(adk.Calls|adk.Responds) && !record.Is(ev)
}

// lastAdjacent returns the last event of the unit of i that is shown next to i, with no event of
// another unit in between.
func (l *layout) lastAdjacent(displaced map[int]bool, i int) int {
	members := l.units.Of(i)
	last := i
	for j := i + 1; j < len(l.events); j++ {
		if l.hidden[j] || displaced[j] {
			continue
		}
		if _, member := slices.BinarySearch(members, j); !member {
			break
		}
		last = j
	}
	return last
}
