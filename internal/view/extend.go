package view

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// extend adds one event that was stored after all others and returns the projection of the longer
// history. Nearly always that is p itself with a longer view: slices handed out before end in front
// of the new element and do not see it. Only an event that changes what stands before it makes a new
// projection, and that costs what is visible, not what is stored.
func (p *projection) extend(ev *session.Event) *projection {
	made, responses := adk.FunctionCalls(ev), adk.FunctionResponses(ev)
	switch {
	case p.claimed(ev):
		// A reference that resolved may be ambiguous now, or the other way round: resolve all again.
		return project(append(p.raw, ev), p, p.gaps)
	case record.Is(ev), p.supersedes(ev), p.disturbs(ev, made, responses), p.overtakes(ev), p.precedes(ev):
		return p.next(ev)
	}
	p.raw = append(p.raw, ev)
	p.noteCalls(len(p.raw)-1, made, responses)
	p.noteUnanswered(len(p.raw)-1, made)
	p.note(ev)
	switch {
	case p.plain && ev != nil:
		p.view = p.raw
	case ev != nil:
		p.view = append(p.view, ev)
	case p.plain:
		p.plain = false
		p.view = slices.Clone(p.view)
	}
	return p
}

// next makes the projection of the history that ev lengthens. Nearly always it follows from p and what
// is visible; where it does not, the history is projected from scratch.
func (p *projection) next(ev *session.Event) *projection {
	next := &projection{
		raw:        append(p.raw, ev),
		gaps:       p.gaps,
		unreadable: p.unreadable,
		booked:     p.booked,
		covered:    p.covered,
		tidy:       p.tidy,
		records:    p.records,
		ids:        p.ids,
		claims:     p.claims,
		standIns:   p.standIns,
	}
	for _, s := range p.live {
		other := *s
		next.live = append(next.live, &other)
	}
	if record.Is(ev) {
		next.booked = slices.Clone(p.booked)
	}
	if e := next.read(len(p.raw), p.finder()); e != nil && !next.join(e) {
		return project(next.raw, p, p.gaps)
	}
	next.ids = p.ids
	next.note(ev)
	next.complete(p)
	return next
}

// join adds a new record to a tidy projection: one that covers events which nothing covers, and absorbs
// live records only. It reports false, with p half changed, for any other.
func (p *projection) join(e *entry) bool {
	if !p.tidy || p.records.count(e.meta.RecordID) > 0 || len(e.loose) > 0 {
		return false
	}
	p.covered = slices.Clone(p.covered)
	for i := range e.covered.all() {
		if p.covered.has(int(i)) {
			return false
		}
		p.covered.add(int(i))
	}
	for _, id := range e.meta.Absorbed {
		at := slices.IndexFunc(p.live, func(s *summary) bool { return s.meta.RecordID == id && s.meta.Branch == e.meta.Branch })
		if at < 0 {
			return false
		}
		p.live = slices.Delete(p.live, at, at+1)
	}
	p.records.add(e.meta.RecordID)
	p.claims = slices.Sorted(slices.Values(slices.Concat(p.claims, e.claims())))
	p.live = append(p.live, &summary{entry: *e, anchor: -1})
	return true
}

// finder finds the events that a new record covers. They were visible when its window was chosen, and
// nearly always they are the oldest that are, so it looks at the visible events in order and only as far
// as it must; where that settles nothing, the whole history is indexed.
func (p *projection) finder() finder {
	visible := map[string]int{}
	next := 0
	indexed := p.indexed()
	lookFor := func(id string) (int, bool) {
		if i, found := visible[id]; found {
			return i, true
		}
		for i := range p.hidden.othersFrom(next, len(p.raw)) {
			next = i + 1
			if !identified(p.raw[i]) {
				continue
			}
			own := record.Normalize(p.raw[i].ID)
			visible[own] = i
			if own == id {
				return i, true
			}
		}
		next = len(p.raw)
		return 0, false
	}
	return func(ref record.Ref) (int, bool) {
		if i, found := lookFor(ref.ID); found && p.known().count(ref.ID) == 1 {
			return i, true
		}
		return indexed(ref)
	}
}

// known returns the marks of the history's IDs.
func (p *projection) known() *marks {
	if p.ids == nil {
		p.ids = markEvents(p.raw)
	}
	return p.ids
}

// note keeps ids up to date.
func (p *projection) note(ev *session.Event) {
	if p.ids != nil && identified(ev) {
		p.ids.add(record.Normalize(ev.ID))
	}
}

// noteCalls keeps pending up to date with the calls and responses of the event at position i.
func (p *projection) noteCalls(i int, made []*genai.FunctionCall, responses []*genai.FunctionResponse) {
	for _, response := range responses {
		delete(p.pending, adk.CallKey{Branch: p.raw[i].Branch, ID: response.ID})
	}
	for _, call := range made {
		name := adk.CallKey{Branch: p.raw[i].Branch, ID: call.ID}
		if earlier, ok := p.pending[name]; ok && int(earlier) != i && call.ID != "" {
			p.unanswerable = append(p.unanswerable, int(earlier))
		}
		p.pending[name] = int32(i)
	}
}

// supersedes reports whether a new event takes the place of one that is shown only because it was
// the newest of its kind, or opens an invocation whose summary had nothing to stand behind.
func (p *projection) supersedes(ev *session.Event) bool {
	switch {
	case opens(ev):
		at, waited := p.openings[ev.InvocationID]
		return p.keepsUser || waited && at < 0
	case speaksAsAgent(ev):
		return p.keepsAgent
	}
	return false
}

// precedes reports whether a new event is of a remote agent and older than what a summary in front
// tells of: a clock runs late, or several processes append.
func (p *projection) precedes(ev *session.Event) bool {
	return isRemoteWords(ev) && slices.ContainsFunc(p.live, func(s *summary) bool { return s.anchor < 0 && s.endsAfter(ev) })
}

// disturbs reports whether the calls and responses of a new event change what stands before it:
// a response brings a hidden call back, or moves one of an earlier invocation; a call claims a
// response that had none.
func (p *projection) disturbs(ev *session.Event, made []*genai.FunctionCall, responses []*genai.FunctionResponse) bool {
	for _, response := range responses {
		if p.tangled[response.ID] || !p.followsItsCall(ev, response.ID) {
			return true
		}
	}
	for _, call := range made {
		if p.orphans[call.ID] {
			return true
		}
	}
	return adk.Asks(ev, made, p.tangled)
}

// followsItsCall reports whether a response to the call of that ID needs no more than being shown at
// the end: the nearest call of the ID in its branch is visible and of the same invocation.
func (p *projection) followsItsCall(ev *session.Event, id string) bool {
	follows := func(i int) bool { return !p.hidden.has(i) && p.raw[i].InvocationID == ev.InvocationID }
	if i, ok := p.pending[adk.CallKey{Branch: ev.Branch, ID: id}]; ok {
		return follows(int(i))
	}
	for i := len(p.raw) - 1; i >= 0; i-- { // a second response, or one to nothing
		for _, call := range adk.FunctionCalls(p.raw[i]) {
			if call.ID == id && p.raw[i].Branch == ev.Branch {
				return follows(i)
			}
		}
	}
	return false
}

// claimed reports whether a reference of some record names the new event, or might.
func (p *projection) claimed(ev *session.Event) bool {
	if ev == nil || len(p.live) == 0 || record.Is(ev) {
		return false
	}
	if id := record.Normalize(ev.ID); id != "" && (p.isClaim(idKey(id)) || p.known().count(id) > 0 && p.covers(id)) {
		return true
	}
	return len(p.claims) > 0 && p.isClaim(placeKey(record.AltKeyOf(ev)))
}

func (p *projection) isClaim(key uint32) bool {
	_, found := slices.BinarySearch(p.claims, key)
	return found
}

// covers reports whether a record covers an event of that ID.
func (p *projection) covers(id string) bool {
	for i := range p.covered.minus(nil) {
		if record.Normalize(p.raw[i].ID) == id {
			return true
		}
	}
	return false
}
