package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Project returns the view of a whole history, given in the order in which the backend returns it.
//
// Project is pure and accepts any input. The result holds the given events themselves, not copies,
// plus two kinds of new events: summaries, and stand-ins for responses that never came (see
// [IsStandIn]). It leaves out nil events and all records, those of ADK's own compaction among them: for one that ADK sees,
// it leaves events out of prompts. A record that cannot be read hides nothing. If no event has to be hidden, added or
// moved, the result is the input slice itself, so callers must not change its elements.
func Project(events []*session.Event) []*session.Event {
	return slices.Clip(project(events, nil, nil, Options{}).view)
}

// projection is the view of one history, and the state that [projection.append] needs to continue
// it. After complete has run, only the ends of its slices grow.
type projection struct {
	raw  []*session.Event
	view []*session.Event
	// working holds the events that the view shows. A record or a late answer affects these events
	// only, so the view is rebuilt from them and not from the whole history.
	working workingSet
	// settled is the number of events in working when complete last ran. Later events were simply
	// added at the end.
	settled int
	// current are the summaries that the view shows, and ledgers the values that they show.
	current []*summary
	ledgers map[string]ledger // by branch
	options Options
	// unreadable is the number of records that could not be decoded, or that another implementation or ADK's own
	// compaction wrote.
	unreadable int
	// consistent is true if a new record can be judged by the current records alone: no event is
	// covered twice, no record is absorbed twice, and no absorbed record is absent.
	consistent bool
	// identity is true if the view is the history itself, so that raw and view are one slice.
	identity bool
	// unsettled is true while records that withRecord has added are not in view yet: complete is still to run.
	unsettled bool
	// gaps is nil if raw is the whole history.
	gaps *gaps

	// keepsUser and keepsAgent are true if the newest event of the user, or of an agent, is covered
	// and only shown because it is the newest.
	keepsUser, keepsAgent bool
	// keepsRun is true if events are covered and only shown because the user goes on with their run.
	keepsRun bool
	// ids and refs are the keys of records, see [recordNode.keys]. A new event or record that has one of
	// them may change what a reference resolves to.
	ids, refs keySet
	// unwatched are records whose keys are not in ids and refs yet. Hashing them takes time, which
	// [Project] can do without.
	unwatched []*recordNode
	// orphans are the IDs of calls that an event answered, or asked to confirm, before any call of
	// that ID was stored.
	orphans map[string]bool
	// asks is true if complete saw an event that asks to confirm a call, even one that it then hid.
	asks bool
	// open are the visible calls that the next message of the user may leave without a response.
	// reused is true if two of them share a key.
	open   map[adk.CallKey]bool
	reused bool
	// standIns are the stand-ins of the view, by the event whose calls they answer.
	standIns map[*session.Event]*session.Event
}

// project computes the view from the whole history. It reuses the summaries and stand-ins of
// before, an earlier projection of the same session, so that readers that compare events by pointer
// see no change; before may be nil.
func project(raw []*session.Event, before *projection, gaps *gaps, options Options) *projection {
	p := &projection{raw: raw, gaps: gaps, working: workingSet{events: raw}, options: options}
	if gaps != nil {
		p.working.covered = slices.Clone(gaps.covered)
	}
	nodes := p.readRecords()
	p.consistent = resolveCurrent(nodes)
	p.unwatched = nodes
	var current []*recordNode
	for _, n := range nodes {
		if n.current {
			current = append(current, n)
			p.current = append(p.current, before.summaryOf(n))
		}
	}
	walk(current, absorbed, func(_, n *recordNode) {
		for _, i := range n.covered {
			p.working.cover(int(i))
		}
	})
	if before == nil {
		p.complete(nil)
	} else {
		p.ledgers = before.ledgers
		p.complete(before.standIns)
	}
	return p
}

// readRecords returns the readable records of the history, without repeated record IDs.
func (p *projection) readRecords() []*recordNode {
	var nodes []*recordNode
	find := p.finder(false)
	known := map[string]bool{}
	for _, ev := range p.raw {
		if !record.Is(ev) {
			if record.IsForeign(ev) || adk.IsCompaction(ev) {
				p.unreadable++
			}
			continue
		}
		m, err := record.From(ev)
		if err != nil {
			p.unreadable++
			continue
		}
		if !known[m.RecordID] {
			known[m.RecordID] = true
			nodes = append(nodes, newRecordNode(ev, m, p.raw, find))
		}
	}
	return nodes
}

// finder returns the position of the one event that a reference names, or false if it names no
// event or more than one.
type finder func(record.Ref) (int, bool)

// finder returns a function that resolves references. If visible is true, it looks among the visible events first, which is
// where a new record's window was chosen, and indexes the whole history only for a reference that it does not find there.
func (p *projection) finder(visible bool) finder {
	p.watchRecords()
	var index *record.Index
	return func(ref record.Ref) (int, bool) {
		// A watched ID may also belong to an event that is hidden.
		if visible && !p.ids.has(hashID(ref.ID)) && !p.refs.has(hashID(ref.ID)) {
			if i, ok := p.working.named(ref.ID); ok {
				return i, true
			}
		}
		if index == nil {
			index = record.NewIndex(p.raw)
		}
		if p.gaps != nil {
			return index.FindID(ref)
		}
		return index.Find(ref)
	}
}
