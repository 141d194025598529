package view

import (
	"maps"
	"slices"

	"google.golang.org/adk/session"
)

// Base is one moment of a view, kept so that a later view of the same session need not be projected
// from the beginning. It is immutable and safe for concurrent use. It holds on to its events.
type Base struct {
	p projection
}

// Base returns the view's present moment.
func (v *View) Base() *Base {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.p.live) > 0 {
		v.p.known() // once for all views that start from here
	}
	b := &Base{p: *v.p}
	b.p.detach(&b.p)
	return b
}

// Len returns the number of the base's stored events.
func (b *Base) Len() int { return len(b.p.raw) }

// View returns the view of a session's events if they begin with the base's, else nil.
func (b *Base) View(events session.Events) *View {
	n := len(b.p.raw)
	if n == 0 || events == nil || events.Len() < n {
		return nil
	}
	// The copy has room: what one view appends must not be seen through another's slice.
	raw := make([]*session.Event, 0, events.Len()+room)
	for ev := range events.All() {
		if len(raw) < n && ev != b.p.raw[len(raw)] {
			return nil // another session, or a decorator that shows something else now
		}
		raw = append(raw, ev)
	}
	if len(raw) < n {
		return nil
	}
	more := raw[n:]
	p := b.p
	p.raw, p.view = raw[:n], slices.Clip(b.p.view)
	p.detach(&b.p)
	if p.plain {
		p.view = p.raw
	}
	v := &View{p: &p}
	for _, ev := range more {
		v.append(ev) // which puts it where it is
	}
	return v
}

// detach lets p grow beside the projection that it was copied from.
func (p *projection) detach(from *projection) {
	p.ids, p.records, p.pending = from.ids.fork(), *from.records.fork(), maps.Clone(from.pending)
	p.unanswered, p.unanswerable = slices.Clone(from.unanswered), slices.Clip(from.unanswerable)
}

// room is how many events a view can be given before its list is copied: a turn's worth.
const room = 64
