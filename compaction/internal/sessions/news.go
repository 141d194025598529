package sessions

import (
	"sync"
	"sync/atomic"

	"google.golang.org/adk/session"
)

// news delivers the records that this process stores in a session to all of its handles.
type news struct {
	mu sync.Mutex
	// records are those that some handle has not seen yet, oldest first; forgotten counts those
	// dropped from its front.
	records   []*session.Event
	forgotten int64
	cursors   map[*cursor]struct{}
	// stored counts all records that this process stored; written under mu.
	stored atomic.Int64
}

// cursor is how many of a session's records one handle has seen.
type cursor struct{ seen atomic.Int64 }

// open registers a handle that is to see new records. It must be called before the handle's events
// are read: a record that is stored in between is then seen twice, never missed.
func (n *news) open() *cursor {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &cursor{}
	c.seen.Store(n.stored.Load())
	n.cursors[c] = struct{}{}
	return c
}

// close removes the cursor of a handle that is gone.
func (n *news) close(c *cursor) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.cursors, c)
	n.forget()
}

// has reports whether there are records that the cursor has not seen.
func (n *news) has(c *cursor) bool { return c.seen.Load() < n.stored.Load() }

// read calls f with every record that the cursor has not seen.
func (n *news) read(c *cursor, f func(*session.Event)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for seen := c.seen.Load(); seen < n.stored.Load(); seen++ {
		f(n.records[seen-n.forgotten])
		c.seen.Store(seen + 1)
	}
	n.forget()
}

// Publish makes a stored record known to all handles.
func (n *news) Publish(ev *session.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records = append(n.records, ev)
	n.stored.Add(1)
	n.forget()
}

// forget drops the records that every handle has seen. The caller holds mu.
func (n *news) forget() {
	seen := n.stored.Load()
	for c := range n.cursors {
		seen = min(seen, c.seen.Load())
	}
	if drop := seen - n.forgotten; drop > 0 {
		n.records = append([]*session.Event(nil), n.records[drop:]...)
		n.forgotten = seen
	}
}
