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

// projection is the view of one history and what is needed to extend it.
type projection struct {
	raw     []*session.Event
	view    []*session.Event
	entries []*entry // readable records, no two of one ID
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

	// What extend needs, each made when it is first asked for.
	keys    []uint32        // see referenceKeys
	orphans map[string]bool // see findOrphans
}

// project computes the view from scratch. Entries of an earlier projection of the same history (the
// same events, possibly fewer) are taken over instead of being decoded again.
func project(raw []*session.Event, earlier []*entry) *projection {
	p := &projection{raw: raw}
	p.readRecords(earlier, false)
	return p.complete()
}

// projectAnew is project for a history in which references may resolve otherwise than in earlier.
func projectAnew(raw []*session.Event, earlier []*entry) *projection {
	p := &projection{raw: raw}
	p.readRecords(earlier, true)
	return p.complete()
}

func (p *projection) complete() *projection {
	settle(p.entries)
	p.hide()
	units := calls.Group(p.raw)
	p.closeOver(units)
	p.arrange(units)
	return p
}

func (p *projection) readRecords(earlier []*entry, resolve bool) {
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
		if e == nil || resolve {
			old := e
			m, err := record.From(ev)
			if err != nil {
				p.unreadable++
				continue
			}
			if index == nil {
				index = record.NewIndex(p.raw)
			}
			e = newEntry(ev, m, p.raw, index)
			if old != nil {
				e.summary, e.standing = old.summary, old.standing
			}
		}
		if seen[e.meta.RecordID] {
			continue // stored twice: a retry after a store that only seemed to fail
		}
		seen[e.meta.RecordID] = true
		p.entries = append(p.entries, e)
	}
}
