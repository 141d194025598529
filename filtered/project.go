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
// or not, and nil events are left out; an unreadable record hides nothing. Where nothing is to be
// done the result is the input itself, so its elements must not be changed.
func Project(events []*session.Event) []*session.Event {
	return slices.Clip(project(events, nil).view)
}

// projection is the view of one history and what is needed to extend it. Once complete, only its
// ends grow; see [projection.extend].
type projection struct {
	raw     []*session.Event
	view    []*session.Event
	entries []*entry // readable records, no two of one ID: the first of each
	// unreadable counts bookkeeping that hides nothing because it cannot be read.
	unreadable int
	covered    bitset // positions that a live record stands for
	hidden     bitset // covered, less what is shown all the same
	// plain says that raw is its own view, so that both are one slice.
	plain bool

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
	pending map[calls.Name]int32

	// ids counts the IDs of raw; nil until it is first needed. claims are the sorted hashes of the other
	// keys by which a reference was resolved or might yet be.
	ids    *idSet
	claims []uint32
}

// project computes the view from scratch. Summaries that before, a projection of the same history or
// of its beginning, made already are taken over, so that who compares events by pointer sees the same
// ones; it may be nil.
func project(raw []*session.Event, before *projection) *projection {
	p := &projection{raw: raw}
	var index *record.Index
	find := func(ref record.Ref) (int, bool) {
		if index == nil {
			index = record.NewIndex(raw)
		}
		return index.Find(ref)
	}
	earlier := before.bySource()
	known := map[string]bool{}
	for _, ev := range raw {
		e := p.read(ev, find)
		if e == nil || known[e.meta.RecordID] {
			continue
		}
		known[e.meta.RecordID] = true
		if old := earlier[ev]; old != nil {
			e.summary, e.standing = old.summary, old.standing
		}
		p.entries = append(p.entries, e)
	}
	p.complete(nil)
	return p
}

// read returns the entry of a record, nil for any other event.
func (p *projection) read(ev *session.Event, find finder) *entry {
	if !record.Is(ev) {
		return nil
	}
	m, err := record.From(ev)
	if err != nil {
		p.unreadable++
		return nil
	}
	return newEntry(ev, m, p.raw, find)
}

func (p *projection) bySource() map[*session.Event]*entry {
	if p == nil {
		return nil
	}
	out := make(map[*session.Event]*entry, len(p.entries))
	for _, e := range p.entries {
		out[e.source] = e
	}
	return out
}

// entry returns the entry of a record ID, nil if there is none.
func (p *projection) entry(id string) *entry {
	for _, e := range p.entries {
		if e.meta.RecordID == id {
			return e
		}
	}
	return nil
}

// complete makes the view once the records are known. before is the projection of a shorter history
// that this one continues, nil for none.
func (p *projection) complete(before *projection) {
	p.claims = claims(p.entries)
	settle(p.entries)
	p.hide()
	units := p.group(before)
	p.closeOver(units)
	p.arrange(units)
}

// group finds the units of calls and responses that are visible in part. What is hidden lies, nearly
// always, before all calls that are visible, so only the end of the history need be grouped.
func (p *projection) group(before *projection) *calls.Units {
	if before != nil && len(before.orphans) == 0 {
		if units := calls.GroupFrom(p.raw, p.oldestVisibleUnit()); !units.Strays() {
			p.pending = before.pending
			p.noteCalls(len(before.raw))
			return units
		}
	}
	units := calls.Group(p.raw)
	p.pending = map[calls.Name]int32{}
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
		if len(calls.In(p.raw[i])) > 0 || len(calls.ResponsesIn(p.raw[i])) > 0 {
			return i
		}
	}
	return len(p.raw)
}
