package view

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// effect is how much of a view a new event changes.
type effect int

const (
	// growsEnd: the view is the old one with the event at its end.
	growsEnd effect = iota
	// changesVisible: the view is rebuilt from the visible events.
	changesVisible
	// needsHistory: hidden events may become visible, so the whole history has to be read.
	needsHistory
)

// append adds one event that was stored after all others and returns the projection of the longer
// history. That is nearly always p itself, with a longer view. Readers of an earlier view do not
// see the change, because their slices end before the new element.
func (p *projection) append(ev *session.Event) *projection {
	if record.Is(ev) || adk.IsCompaction(ev) {
		return project(append(p.raw, ev), p, p.gaps, p.options)
	}
	calls, responses := adk.FunctionCalls(ev), adk.FunctionResponses(ev)
	switch effect := p.effectOf(ev, calls, responses); {
	case effect == needsHistory, effect == changesVisible && p.isFragile():
		return project(append(p.raw, ev), p, p.gaps, p.options)
	case effect == changesVisible:
		next := p.successor(ev)
		next.working = p.working.with(ev, len(p.raw))
		if next.working.at == nil {
			next.working.events = next.raw
		}
		next.complete(p.standIns)
		return next
	}
	position := len(p.raw)
	p.raw = append(p.raw, ev)
	if p.working.at == nil {
		p.working.events, p.working.ids = p.raw, nil
	} else {
		p.working = p.working.with(ev, position)
	}
	if p.identity {
		p.view = p.raw
	} else {
		p.view = append(p.view, ev)
	}
	p.noteCalls(ev, calls, responses)
	return p
}

// successor returns a projection of the history with one more event, which complete has to finish.
func (p *projection) successor(ev *session.Event) *projection {
	next := p.withOwnSummaries()
	next.raw = append(p.raw, ev)
	return next
}

// withOwnSummaries returns a copy whose summaries may be changed.
func (p *projection) withOwnSummaries() *projection {
	next := *p
	next.current = nil
	for _, s := range p.current {
		other := *s
		next.current = append(next.current, &other)
	}
	return &next
}

// withRecord returns the projection with one more record, or nil if the record's effect depends on
// more than the current records. It depends on these alone if the record covers visible events that
// no record covers yet, absorbs current records only, and, if it is a mid-turn record, names a
// visible anchor: a hidden one would have to be shown again.
func (p *projection) withRecord(ev *session.Event) *projection {
	m, err := record.From(ev)
	if err != nil || p.isFragile() || !p.consistent || p.record(m.RecordID) != nil {
		return nil
	}
	next := p.successor(ev)
	node := newRecordNode(ev, m, p.raw, p.finder(true))
	if len(node.loose) > 0 || m.MidTurn() && p.working.index(int(node.after)) < 0 {
		return nil
	}
	next.working = p.working.positioned()
	for _, position := range node.covered {
		i := next.working.index(int(position))
		if i < 0 || next.working.isCovered(i) {
			return nil
		}
		next.working.cover(i)
	}
	for _, id := range m.Absorbed {
		i := slices.IndexFunc(next.current, func(s *summary) bool { return s.meta.RecordID == id && s.meta.Branch == m.Branch })
		if i < 0 {
			return nil
		}
		next.current = slices.Delete(next.current, i, i+1)
	}
	next.current = append(next.current, next.summaryOf(node))
	next.unwatched = []*recordNode{node}
	next.identity, next.unsettled = false, true
	return next
}

// effectOf returns how much of the view a new event, other than a record, changes.
func (p *projection) effectOf(ev *session.Event, calls []*genai.FunctionCall, responses []*genai.FunctionResponse) effect {
	if ev == nil || p.isWatched(ev) || bringsBack(ev, p.raw, &p.working) {
		return needsHistory
	}
	class, out := adk.Classify(ev), growsEnd
	if p.replacesNewest(ev, class) || p.opensAnchorless(ev, class) || p.belongsInFront(ev, class) || namesFront(p.current, ev) || class.Is(adk.Message) && (len(p.open) > 0 || p.reused) {
		out = changesVisible
	}
	for _, response := range responses {
		out = max(out, p.effectOfAnswer(ev, response.ID))
	}
	for _, id := range adk.RequestedConfirmations(ev) {
		out = max(out, p.effectOfAnswer(ev, id))
	}
	for _, call := range calls {
		if p.orphans[call.ID] {
			return needsHistory
		}
	}
	return out
}

// isFragile reports whether hidden events may decide how the visible ones are shown, so that any change
// needs the history: some event answers a call that comes later, or a request for a confirmation may
// be for an unanswered call, or for a hidden one of the same ID.
func (p *projection) isFragile() bool {
	return len(p.orphans) > 0 || p.asks && (p.reused || len(p.open) > 0 || len(p.standIns) > 0)
}

// isWatched reports whether a reference of some record names the new event, or may do so.
func (p *projection) isWatched(ev *session.Event) bool {
	p.watchRecords()
	if id := record.Normalize(ev.ID); id != "" {
		hash := hashID(id)
		if p.refs.has(hash) || p.ids.has(hash) && p.holdsID(id) {
			return true
		}
	}
	return len(p.refs) > 0 && p.refs.has(hashAltKey(record.RefTo(ev).AltKey()))
}

// holdsID reports whether a stored event has the given ID. In a long history, the hash of a new ID may
// well be that of an old one.
func (p *projection) holdsID(id string) bool {
	return slices.ContainsFunc(p.raw, func(ev *session.Event) bool { return ev != nil && record.Normalize(ev.ID) == id })
}

// watchRecords adds the keys of the records that are not watched yet.
func (p *projection) watchRecords() {
	if len(p.unwatched) == 0 {
		return
	}
	var ids, refs []uint32
	for _, n := range p.unwatched {
		ids, refs = n.keys(ids, refs, p.raw)
	}
	p.ids, p.refs, p.unwatched = p.ids.with(ids), p.refs.with(refs), nil
}

// replacesNewest reports whether a covered event will no longer be shown: it was shown only as the
// newest of its kind, or because of the user's newest message, and the new event is newer.
func (p *projection) replacesNewest(ev *session.Event, class adk.Class) bool {
	return (p.keepsUser || p.keepsRun) && opens(ev, class) || p.keepsAgent && speaksAsAgent(ev, class)
}

// bringsBack reports whether a hidden event is of the run that the new event goes on with, see [layout.keepRun].
func bringsBack(ev *session.Event, raw []*session.Event, shown *workingSet) bool {
	if !adk.Resumes(ev) {
		return false
	}
	for i, of := range raw {
		if of != nil && of.InvocationID == ev.InvocationID && shown.index(i) < 0 && !invisible(of) {
			return true
		}
	}
	return false
}

// opensAnchorless reports whether the new event opens an invocation whose mid-turn summary is shown
// in front because it had no anchor.
func (p *projection) opensAnchorless(ev *session.Event, class adk.Class) bool {
	return opens(ev, class) && slices.ContainsFunc(p.current, func(s *summary) bool {
		return s.meta.MidTurn() && s.anchor < 0 && s.meta.StartInvocationID == ev.InvocationID
	})
}

// belongsInFront reports whether the new event is by a remote agent and older than the end of a
// summary in front. That happens if a clock runs late, or if several processes append.
func (p *projection) belongsInFront(ev *session.Event, class adk.Class) bool {
	return isRemoteWords(ev, class) && slices.ContainsFunc(p.current, func(s *summary) bool { return s.anchor < 0 && s.endsAfter(ev) })
}

// namesFront reports whether the new event changes whose summaries in front are, see [layout.nameFront].
func namesFront(current []*summary, ev *session.Event) bool {
	scope := record.Normalize(adk.ScopeOf(ev))
	return scope != "" && slices.ContainsFunc(current, func(s *summary) bool {
		_, of := adk.SplitLane(s.meta.Branch)
		return s.anchor < 0 && of == scope && s.by != "user" && s.by != ev.Author
	})
}

// effectOfAnswer returns the effect of a response to a call, or of a request to confirm one. A
// response grows the end only if its call was added at the end, too, in the same invocation. For
// example,
//
//	e1  call c            the view shows e1
//	r   record            hides other events; e1 is still visible, and is settled
//	e2  response to c     the view of the visible events is made again
//
// If r had hidden e1, e2 would bring e1 back, which needs the history.
func (p *projection) effectOfAnswer(ev *session.Event, call string) effect {
	for position := len(p.raw) - 1; position >= 0; position-- {
		at := p.raw[position]
		if at == nil || adk.Lane(at) != adk.Lane(ev) || !holds(at, call) {
			continue
		}
		switch i := p.working.index(position); {
		case i < 0:
			return needsHistory
		case i < p.settled || at.InvocationID != ev.InvocationID:
			return changesVisible
		}
		return growsEnd
	}
	return needsHistory
}

// holds reports whether an event holds a call of the given ID.
func holds(ev *session.Event, id string) bool {
	return ev.Content != nil && slices.ContainsFunc(ev.Content.Parts, func(part *genai.Part) bool {
		return part != nil && part.FunctionCall != nil && part.FunctionCall.ID == id
	})
}

// noteCalls keeps track of the calls that have no response yet.
func (p *projection) noteCalls(ev *session.Event, calls []*genai.FunctionCall, responses []*genai.FunctionResponse) {
	for _, response := range responses {
		delete(p.open, adk.CallKey{Branch: adk.Lane(ev), ID: response.ID})
	}
	for _, call := range calls {
		if call.ID != "" && adk.Prompted(call.Name) {
			p.noteOpen(adk.Lane(ev), call.ID)
		}
	}
}

func (p *projection) noteOpen(branch, id string) {
	key := adk.CallKey{Branch: branch, ID: id}
	p.reused = p.reused || p.open[key]
	put(&p.open, key, true)
}
