package view

import (
	"maps"
	"slices"

	"google.golang.org/adk/session"
)

// Fork returns a view of the same history that grows independently of this one.
func (v *View) Fork() *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.p.fork(slices.Clip(v.p.raw))
	return &View{p: p, shown: v.shown.fork(p), generation: v.generation}
}

// Continue returns a new view of the given events if they begin with the stored events of v,
// compared by pointer, and nil otherwise. It does not change v. It costs one copy of the list, and
// one append per further event.
func (v *View) Continue(events session.Events) *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := len(v.p.raw)
	if n == 0 || events == nil || events.Len() < n {
		return nil
	}
	raw := make([]*session.Event, 0, events.Len()+room)
	for ev := range events.All() {
		if len(raw) < n && ev != v.p.raw[len(raw)] {
			return nil // another session, or a decorator that shows something else now
		}
		raw = append(raw, ev)
	}
	if len(raw) < n {
		return nil
	}
	more := raw[n:]
	next := &View{p: v.p.fork(raw[:n])}
	next.shown = v.shown.fork(next.p)
	for _, ev := range more {
		next.append(ev) // writes it to its place in raw once more
	}
	return next
}

// room is the number of events that a continued view can take before its list is copied: about a
// turn.
const room = 64

// fork returns a copy of p that grows independently of it. raw is a list of the same events, whose
// spare room belongs to the copy.
func (p *projection) fork(raw []*session.Event) *projection {
	p.watchRecords() // once for both
	next := *p
	next.raw, next.view, next.open = raw, slices.Clip(p.view), maps.Clone(p.open)
	next.working = workingSet{slices.Clip(p.working.events), slices.Clip(p.working.at), p.working.covered, p.working.ids}
	if next.working.at == nil {
		next.working.events = raw
	}
	if p.identity {
		next.view = raw
	}
	return &next
}
