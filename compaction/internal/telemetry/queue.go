package telemetry

import (
	"sync"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// queue calls functions one at a time and in order for each session.
type queue struct {
	mu sync.Mutex
	// pending holds the functions to call for each session, oldest first. A session has an entry only
	// while a goroutine works through it, so an idle session costs nothing.
	pending map[adk.SessionRef][]func()
}

// inOrder calls f after every function that was given for the session before. If another goroutine
// works through the session's functions, or f is given by one of these functions, inOrder leaves f to
// that goroutine.
func (q *queue) inOrder(about adk.SessionRef, f func()) {
	q.mu.Lock()
	before, busy := q.pending[about]
	if q.pending == nil {
		q.pending = map[adk.SessionRef][]func(){}
	}
	q.pending[about] = append(before, f)
	q.mu.Unlock()
	if busy {
		return
	}
	for next := q.next(about); next != nil; next = q.next(about) {
		next()
	}
}

// next takes the session's oldest function. If there is none, it removes the session's entry and
// returns nil.
func (q *queue) next(about adk.SessionRef) func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.pending[about]
	if len(waiting) == 0 {
		delete(q.pending, about)
		return nil
	}
	next := waiting[0]
	waiting[0] = nil // it refers to the context of a turn, and so to the session's events
	q.pending[about] = waiting[1:]
	return next
}
