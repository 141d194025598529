package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// arrange builds the view from what is visible.
func (p *projection) arrange(units *adk.Units) {
	front, behind := p.summaries()
	late := lateAnswers(p.raw, units)
	p.tangled = p.tangledCalls(units, behind)
	if p.plain = p.booked.empty() && len(late.before) == 0 && len(p.standIns) == 0 && !slices.ContainsFunc(p.raw, invisible); p.plain {
		p.view = p.raw
		return
	}
	p.view = nil
	ahead := p.remoteWords(front)
	for _, e := range front {
		for _, i := range ahead.of[e] {
			p.view = append(p.view, p.raw[i])
		}
		p.view = append(p.view, e.event())
	}
	// due holds summaries whose event has been shown but whose unit has not ended yet: text between a
	// call and its response would part them.
	var due []*summary
	// emit shows the event at position i at its place or, beside a late answer, at another.
	end := -1
	emit := func(i, at int) {
		if invisible(p.raw[i]) || p.hidden.has(i) {
			return
		}
		if !ahead.moved.has(i) { // else its place is empty, and a summary behind it stays there
			p.view = append(p.view, p.raw[i])
		}
		if s, ok := p.standIns[i]; ok {
			p.view = append(p.view, s.shown)
		}
		if found := behind[int32(i)]; len(found) > 0 {
			due = append(due, found...)
			end = max(end, p.lastAdjacent(units, late.moved, at))
		}
	}
	for i := range p.hidden.others(len(p.raw)) {
		if late.moved.has(i) {
			continue
		}
		for _, j := range late.before[i] {
			emit(j, i)
		}
		emit(i, i)
		if i >= end && len(due) > 0 {
			for _, e := range due {
				p.view = append(p.view, e.event())
			}
			due = nil
		}
	}
	for _, e := range due {
		p.view = append(p.view, e.event())
	}
}

// invisible reports whether an event is never part of a view.
func invisible(ev *session.Event) bool { return ev == nil || record.Is(ev) }

// summaries returns the live records in the order of the view: those that stand in front, and those
// that stand behind an event, by its position.
func (p *projection) summaries() (front []*summary, behind map[int32][]*summary) {
	live := slices.Clone(p.live)
	slices.SortFunc(live, byStart)
	behind = map[int32][]*summary{}
	for _, s := range live {
		if s.anchor < 0 {
			front = append(front, s)
		} else {
			behind[s.anchor] = append(behind[s.anchor], s)
		}
	}
	return front, behind
}

// precedence says which events are shown in front of which summaries.
type precedence struct {
	moved bitset
	of    map[*summary][]int // positions
}

// remoteWords finds what remote agents said that is shown in front of a summary: of the first one that
// tells of anything later. ADK sends a remote agent only what stands behind its newest event, so it
// would never learn of what is summarized in front of that.
func (p *projection) remoteWords(front []*summary) precedence {
	out := precedence{}
	if len(front) == 0 {
		return out
	}
	out.of = map[*summary][]int{}
	for i := range p.hidden.others(len(p.raw)) {
		if !isRemoteWords(p.raw[i]) {
			continue
		}
		if k := slices.IndexFunc(front, func(s *summary) bool { return s.endsAfter(p.raw[i]) }); k >= 0 {
			out.of[front[k]] = append(out.of[front[k]], i)
			out.moved.add(i)
		}
	}
	return out
}

// isRemoteWords reports whether an event is of a remote agent and calls or responds to nothing: what
// does must stay with its unit.
func isRemoteWords(ev *session.Event) bool {
	class := adk.Classify(ev)
	return class.Is(adk.ByAgent|adk.Remote) && !class.Any(adk.Calls|adk.Responds) && !record.Is(ev)
}

// lastAdjacent returns the last position of the unit of i that is shown next to i: nothing but what is
// not shown here lies between.
func (p *projection) lastAdjacent(units *adk.Units, moved bitset, i int) int {
	members := units.Of(i)
	last := i
	for j := i + 1; j < len(p.raw); j++ {
		if invisible(p.raw[j]) || p.hidden.has(j) || moved.has(j) {
			continue
		}
		if _, member := slices.BinarySearch(members, j); !member {
			break
		}
		last = j
	}
	return last
}
