package sessions

import (
	"sync"
	"weak"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// viewCache makes the views of sessions. If a backend returns the same events at every Get, as
// ADK's in-memory service does, the cache keeps the last view, so that a Get costs only what is
// new:
//
//	first Get    1,000 events   the view is made, and the first event remembered
//	second Get   1,002 events   the same first event: the view is made, and kept
//	third Get    1,004 events   two events are added to the kept view
//
// Other backends return new events each time. For these the cache keeps only a weak pointer.
type viewCache struct {
	options view.Options // of all views

	mu     sync.Mutex
	byRef  *simplelru.LRU[adk.SessionRef, cached]
	events int // of all kept views together
}

// cached is where the next view of a session may start from.
type cached struct {
	first weak.Pointer[session.Event] // the session's first event, as the last Get had it
	base  *view.View                  // nil until a second Get has the same first event
}

// The cache is bounded by sessions and by events. Each event takes up some 13 bytes in addition to
// what the backend holds anyway, and 8 more where records have come in a row: 22 MB at most. The least
// recently used views go first.
const (
	maxCached       = 64
	maxCachedEvents = 1 << 20
)

func newViewCache(options view.Options) *viewCache {
	c := &viewCache{options: options}
	// NewLRU only fails for a size that is not positive.
	c.byRef, _ = simplelru.NewLRU(maxCached, func(_ adk.SessionRef, one cached) { c.events -= one.len() })
	return c
}

func (c cached) len() int {
	if c.base == nil {
		return 0
	}
	return c.base.Len()
}

// view returns the view of a session's events, shown through cut.
func (c *viewCache) view(ref adk.SessionRef, events session.Events, cut view.Cut) *view.View {
	before := c.get(ref)
	var v *view.View
	if before.base != nil {
		v = before.base.Continue(events)
	}
	if v == nil {
		v = c.options.New(view.Collect(events)).Through(cut)
	}
	if events == nil || events.Len() == 0 {
		return v
	}
	next := cached{first: weak.Make(events.At(0))}
	if next.first == before.first {
		next.base = v.Fork()
	}
	c.put(ref, next)
	return v
}

func (c *viewCache) get(ref adk.SessionRef) cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, _ := c.byRef.Get(ref)
	return one
}

func (c *viewCache) put(ref adk.SessionRef, one cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byRef.Remove(ref)
	c.byRef.Add(ref, one)
	for c.events += one.len(); c.events > maxCachedEvents; {
		if _, _, ok := c.byRef.RemoveOldest(); !ok {
			break
		}
	}
}

func (c *viewCache) forget(ref adk.SessionRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byRef.Remove(ref)
}
