package compaction

import (
	"sync"
	"weak"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/view"
)

// bases makes the views of sessions, and where a backend hands out the same events at every Get, as
// ADK's in-memory service does, it keeps how far the last one came. So a Get costs what is new and
// not, once more, all that was said. Of other backends, which read their events anew, it keeps
// nothing but a weak pointer.
type bases struct {
	mu     sync.Mutex
	byRef  *simplelru.LRU[SessionRef, origin]
	events int // in all bases together
}

// origin is where the next view of a session may start from.
type origin struct {
	first weak.Pointer[session.Event] // the session's first event, as the last Get had it
	base  *view.View                  // nil until a second Get has the same first event
}

// What is kept is bounded by sessions and by events, of which a base takes up some 13 bytes each
// beside those that the backend holds anyway: 14 MB at most. The longest unused go first.
const (
	maxOrigins    = 64
	maxBaseEvents = 1 << 20
)

func newBases() *bases {
	b := &bases{}
	// NewLRU fails for a size that is not positive only.
	b.byRef, _ = simplelru.NewLRU(maxOrigins, func(_ SessionRef, o origin) { b.events -= o.len() })
	return b
}

func (o origin) len() int {
	if o.base == nil {
		return 0
	}
	return o.base.Len()
}

// view returns the view of a session's events.
func (b *bases) view(ref SessionRef, events session.Events) *view.View {
	before := b.get(ref)
	var v *view.View
	if before.base != nil {
		v = before.base.Continue(events)
	}
	if v == nil {
		v = view.New(view.Collect(events))
	}
	if events == nil || events.Len() == 0 {
		return v
	}
	next := origin{first: weak.Make(events.At(0))}
	if next.first == before.first {
		next.base = v.Fork()
	}
	b.put(ref, next)
	return v
}

func (b *bases) get(ref SessionRef) origin {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, _ := b.byRef.Get(ref)
	return o
}

func (b *bases) put(ref SessionRef, o origin) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byRef.Remove(ref)
	b.byRef.Add(ref, o)
	for b.events += o.len(); b.events > maxBaseEvents; {
		if _, _, ok := b.byRef.RemoveOldest(); !ok {
			break
		}
	}
}

func (b *bases) forget(ref SessionRef) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byRef.Remove(ref)
}
