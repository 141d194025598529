package filtered

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

// View returns the view of a session's events if they begin with the base's, else nil. A session only
// ever grows, and a backend that hands out the same events again hands out all of them, so the ends of
// the base decide.
func (b *Base) View(events session.Events) *View {
	n := len(b.p.raw)
	if n == 0 || events == nil || events.Len() < n || events.At(0) != b.p.raw[0] || events.At(n-1) != b.p.raw[n-1] {
		return nil
	}
	// The copy has room: what one view appends must not be seen through another's slice.
	raw := make([]*session.Event, n, events.Len()+room)
	copy(raw, b.p.raw)
	p := b.p
	p.raw, p.view = raw, slices.Clip(b.p.view)
	p.detach(&b.p)
	if p.plain {
		p.view = raw
	}
	v := &View{p: &p}
	for i := n; i < events.Len(); i++ {
		v.append(events.At(i))
	}
	return v
}

// detach lets p grow beside the projection that it was copied from.
func (p *projection) detach(from *projection) {
	p.ids, p.records, p.pending = from.ids.fork(), *from.records.fork(), maps.Clone(from.pending)
}

// room is how many events a view can be given before its list is copied: a turn's worth.
const room = 64
