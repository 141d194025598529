package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Project returns the view of a whole history, given in the order of the backend.
//
// It is pure and total: any input is accepted, nothing of it is changed, and the events of the
// result are those of the input, except the summaries and the stand-ins for responses that never came
// (see [IsStandIn]), which are new. Records themselves, readable
// or not, and nil events are left out; an unreadable record hides nothing. Where nothing is to be
// done the result is the input itself, so its elements must not be changed.
func Project(events []*session.Event) []*session.Event {
	return slices.Clip(project(events, nil, nil).view)
}

// projection is the view of one history and what is needed to extend it. Once complete, only its
// ends grow; see [projection.extend].
type projection struct {
	raw  []*session.Event
	view []*session.Event
	// live are the summaries that are shown. Of records that are not, nothing is kept but marks.
	live []*summary
	// unreadable counts bookkeeping that hides nothing because it cannot be read.
	unreadable int
	booked     bitset // positions of records, which are never shown
	covered    bitset // positions that a live record stands for
	hidden     bitset // covered and booked, less what is shown all the same
	// tidy says that each record was absorbed by one other at most, that none waits for one that is not
	// there, and that no event is covered twice: so the next record is judged by the live ones alone.
	tidy bool
	// plain says that raw is its own view, so that both are one slice.
	plain bool
	// gaps is nil for a whole history.
	gaps *gaps

	// keepsUser and keepsAgent say that the newest event of the user or of an agent is shown although
	// it is covered.
	keepsUser, keepsAgent bool
	// openings are the positions of the first user events of invocations, as far as asked for; -1
	// where a summary waits for one.
	openings map[string]int32
	// tangled holds the calls whose next response may move what is shown already.
	tangled map[string]bool
	// orphans are the IDs of responses that no call precedes.
	orphans map[string]bool
	// pending are the positions of calls that may yet be answered.
	pending map[adk.CallKey]int32
	// standIns are shown behind the events at their positions, whose calls were interrupted.
	standIns map[int]standIn
	// unanswered are the positions of events with calls that the next message of the user may leave
	// behind, unless they are answered by then; see pending. unanswerable are those of calls whose ID was
	// used again.
	unanswered, unanswerable []int

	// records marks the IDs of readable records, and ids those of all other events; nil until it is first
	// needed. claims are the sorted hashes of the other keys by which a reference was resolved or might
	// yet be.
	records marks
	ids     *marks
	claims  []uint32
}

// gaps says of a history that hidden events, and records that are not live, may be missing in it.
type gaps struct {
	covered bitset // positions that a record which may be missing stands for
	// overtaken reports whether a message of the user that is missing ends the invocation of an event
	// with calls; nil where none does.
	overtaken func(*session.Event) bool
}

func (g *gaps) overtakes() func(*session.Event) bool {
	if g == nil {
		return nil
	}
	return g.overtaken
}

// project computes the view from scratch. Summaries that before, a projection of the same history or
// of its beginning, made already are taken over, so that who compares events by pointer sees the same
// ones; it may be nil.
func project(raw []*session.Event, before *projection, gaps *gaps) *projection {
	p := &projection{raw: raw, gaps: gaps}
	if before != nil {
		p.standIns = before.standIns
	}
	find := p.indexed()
	known := map[string]bool{}
	var entries []*entry // no two of one record ID: the first of each
	for i := range raw {
		if e := p.read(i, find); e != nil && !known[e.meta.RecordID] {
			known[e.meta.RecordID] = true
			p.records.add(e.meta.RecordID)
			entries = append(entries, e)
		}
	}
	p.tidy = settle(entries)
	for _, e := range entries {
		p.claims = append(p.claims, e.claims()...)
		if e.live {
			p.live = append(p.live, before.summaryOf(e))
		}
	}
	slices.Sort(p.claims)
	p.cover()
	p.complete(nil)
	return p
}

// read returns the entry of the record at a position, nil for any other event.
func (p *projection) read(i int, find finder) *entry {
	ev := p.raw[i]
	if !record.Is(ev) {
		return nil
	}
	p.booked.add(i)
	m, err := record.From(ev)
	if err != nil {
		p.unreadable++
		return nil
	}
	return newEntry(ev, m, p.raw, find)
}

// finder returns the position of the one event that a reference names, false where there is none or
// more than one.
type finder func(record.Ref) (int, bool)

// indexed finds events in the whole of raw.
func (p *projection) indexed() finder {
	var index *record.Index
	return func(ref record.Ref) (int, bool) {
		if index == nil {
			index = record.NewIndex(p.raw)
		}
		if p.gaps != nil {
			return index.FindID(ref)
		}
		return index.Find(ref)
	}
}

// complete makes the view once it is known what the live records stand for. before is the projection
// of a shorter history that this one continues, nil for none.
func (p *projection) complete(before *projection) {
	p.hidden = union(p.covered, p.booked)
	p.anchorRounds()
	p.keepNewest()
	units := p.group(before)
	p.closeOver(units)
	p.findMissing(units, p.standIns)
	p.arrange(units)
}

// group finds the units of calls and responses that are visible in part. What is hidden lies, nearly
// always, before all calls that are visible, so only the end of the history need be grouped.
func (p *projection) group(before *projection) *adk.Units {
	if before != nil && len(before.orphans) == 0 {
		if units := adk.GroupUnitsFrom(p.raw, p.oldestVisibleUnit(), p.gaps.overtakes()); !units.Strays() {
			p.pending = before.pending
			for i := len(before.raw); i < len(p.raw); i++ {
				p.noteCalls(i, adk.FunctionCalls(p.raw[i]), adk.FunctionResponses(p.raw[i]))
			}
			return units
		}
	}
	units := adk.GroupUnitsFrom(p.raw, 0, p.gaps.overtakes())
	p.pending = map[adk.CallKey]int32{}
	for name, i := range units.Pending() {
		p.pending[name] = int32(i)
	}
	for _, id := range units.Orphans() {
		if p.orphans == nil {
			p.orphans = map[string]bool{}
		}
		p.orphans[id] = true
	}
	return units
}

// oldestVisibleUnit returns the position of the first visible event that calls or responds.
func (p *projection) oldestVisibleUnit() int {
	for i := range p.hidden.others(len(p.raw)) {
		if adk.Classify(p.raw[i]).Any(adk.Calls | adk.Responds) {
			return i
		}
	}
	return len(p.raw)
}
