package filtered

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/calls"
	"github.com/adk-go-ext/longsession/record"
)

// Project returns the view of a whole history, given in the order of the backend.
//
// It is pure and total: any input is accepted, nothing of it is changed, and the events of the
// result are those of the input, except the summaries, which are new. Records themselves, readable
// or not, and nil events are left out; an unreadable record hides nothing.
func Project(events []*session.Event) []*session.Event {
	p := project(events, nil)
	return p.view
}

// projection is the view of one history and what is needed to extend it.
type projection struct {
	raw     []*session.Event
	view    []*session.Event
	entries []*entry // readable records, no two of one ID
	// unreadable counts bookkeeping that hides nothing because it cannot be read.
	unreadable int
	covered    bitset // positions that a live record stands for
	hidden     bitset // covered, less what is shown for the sake of its unit
	// plain says that raw is its own view, so that both are one slice.
	plain bool

	// What extend needs, each made when it is first asked for.
	keys    []uint32        // see referenceKeys
	orphans map[string]bool // see findOrphans
}

// project computes the view from scratch. Entries of an earlier projection of the same history (the
// same events, possibly fewer) are taken over instead of being decoded again.
func project(raw []*session.Event, earlier []*entry) *projection {
	p := &projection{raw: raw}
	p.readRecords(earlier)
	settle(p.entries)
	p.hide()
	units := calls.Group(raw)
	p.closeOver(units)
	p.arrange(units)
	return p
}

func (p *projection) readRecords(earlier []*entry) {
	known := make(map[*session.Event]*entry, len(earlier))
	for _, e := range earlier {
		known[e.source] = e
	}
	var index *record.Index
	seen := map[string]bool{}
	for _, ev := range p.raw {
		if !record.Is(ev) {
			continue
		}
		e := known[ev]
		if e == nil {
			m, err := record.From(ev)
			if err != nil {
				p.unreadable++
				continue
			}
			if index == nil {
				index = record.NewIndex(p.raw)
			}
			e = newEntry(ev, m, p.raw, index)
		}
		if seen[e.meta.RecordID] {
			continue // stored twice: a retry after a store that only seemed to fail
		}
		seen[e.meta.RecordID] = true
		p.entries = append(p.entries, e)
	}
}

// hide marks what live records stand for, and shows again what their summaries stand behind.
func (p *projection) hide() {
	seen := map[*entry]bool{}
	for _, e := range p.entries {
		if e.live {
			e.each(seen, func(d *entry) {
				for _, i := range d.covered {
					p.covered.add(int(i))
				}
			})
		}
	}
	p.hidden = slices.Clone(p.covered)
	for _, e := range p.entries {
		if e.live && e.after >= 0 {
			p.hidden.remove(int(e.after))
		}
	}
}

// closeOver shows every unit whole of which a part is visible.
func (p *projection) closeOver(units *calls.Units) {
	if p.hidden.empty() {
		return
	}
	units.Each(func(members []int) {
		visible := slices.ContainsFunc(members, func(i int) bool { return !p.hidden.has(i) })
		if visible {
			for _, i := range members {
				p.hidden.remove(i)
			}
		}
	})
}

// arrange builds the view from what is visible.
func (p *projection) arrange(units *calls.Units) {
	front, behind := p.summaries()
	late := lateAnswers(p.raw, units)
	if p.plain = len(front) == 0 && len(behind) == 0 && len(late.before) == 0 && !slices.ContainsFunc(p.raw, invisible); p.plain {
		p.view = p.raw
		return
	}
	p.view = make([]*session.Event, 0, p.visible()+len(front)+len(behind))
	for _, e := range front {
		p.view = append(p.view, e.event())
	}
	// due holds summaries whose event has been shown but whose unit has not ended yet: text between a
	// call and its response would part them.
	var due []*entry
	end := -1
	emit := func(i int) {
		if invisible(p.raw[i]) || p.hidden.has(i) {
			return
		}
		p.view = append(p.view, p.raw[i])
		if found := behind[int32(i)]; len(found) > 0 {
			due = append(due, found...)
			end = max(end, lastAdjacent(p.raw, units, late.moved, i))
		}
	}
	for i := range p.raw {
		if late.moved.has(i) {
			continue
		}
		for _, j := range late.before[i] {
			emit(j)
		}
		emit(i)
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

// visible counts the events that are shown, summaries apart.
func (p *projection) visible() int {
	n := 0
	for i, ev := range p.raw {
		if !invisible(ev) && !p.hidden.has(i) {
			n++
		}
	}
	return n
}

// invisible reports whether an event is never part of a view.
func invisible(ev *session.Event) bool { return ev == nil || record.Is(ev) }

// summaries returns the live records in the order of the view: those that stand in front, and those
// that stand behind an event, by its position.
func (p *projection) summaries() (front []*entry, behind map[int32][]*entry) {
	behind = map[int32][]*entry{}
	for _, e := range p.entries {
		if e.live {
			front = append(front, e)
		}
	}
	slices.SortFunc(front, func(a, b *entry) int {
		if precedes(a.meta, b.meta) {
			return -1
		}
		return 1
	})
	front = slices.DeleteFunc(front, func(e *entry) bool {
		at := p.anchor(e)
		if at < 0 {
			return false
		}
		behind[at] = append(behind[at], e)
		return true
	})
	return front, behind
}

// anchor returns the position that the summary of a live invocation's rounds stands behind: the
// event it names, else the first visible user event of its invocation, else -1 for the front.
func (p *projection) anchor(e *entry) int32 {
	if !e.meta.Live() {
		return -1
	}
	if e.after >= 0 {
		return e.after
	}
	for i, ev := range p.raw {
		if ev != nil && ev.Author == "user" && ev.InvocationID == e.meta.StartInvocationID &&
			!record.Is(ev) && !p.hidden.has(i) {
			return int32(i)
		}
	}
	return -1
}

// lastAdjacent returns the last position of the run of events from i on that belong to the unit of i.
func lastAdjacent(raw []*session.Event, units *calls.Units, moved bitset, i int) int {
	members := units.Of(i)
	last := i
	for j := i + 1; j < len(raw) && slices.Contains(members, j) && !moved.has(j); j++ {
		last = j
	}
	return last
}

// lateness says which events are shown elsewhere than the backend has them.
type lateness struct {
	moved  bitset
	before map[int][]int // by position of the late response: what is shown directly before it
}

// lateAnswers finds the units whose latest response lies in a later invocation than their call.
func lateAnswers(raw []*session.Event, units *calls.Units) lateness {
	late := lateness{before: map[int][]int{}}
	units.Each(func(members []int) {
		last := lateResponse(raw, members)
		if last < 0 {
			return
		}
		for _, i := range members {
			if i < last {
				late.moved.add(i)
				late.before[last] = append(late.before[last], i)
			}
		}
	})
	return late
}

// lateResponse returns the position of the unit's latest response if a call stands before it in
// another invocation, else -1.
func lateResponse(raw []*session.Event, members []int) int {
	last := -1
	for _, i := range members {
		if len(calls.ResponsesIn(raw[i])) > 0 {
			last = i
		}
	}
	for _, i := range members {
		if i < last && len(calls.In(raw[i])) > 0 && raw[i].InvocationID != raw[last].InvocationID {
			return last
		}
	}
	return -1
}
