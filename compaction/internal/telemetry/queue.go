package telemetry

import (
	"sync"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
)

// queue calls functions one at a time and in order for each session. A session has a line only
// while somebody works through it, so an idle one costs nothing.
type queue struct {
	mu    sync.Mutex
	lines map[sessions.Ref][]func() // what is still to be called, oldest first; no entry where nobody is at it
}

// inOrder calls f after everything that was put in line for the session before. Where another
// goroutine is working through the line, or f comes from a function in the line, it leaves f to
// that goroutine.
func (q *queue) inOrder(about sessions.Ref, f func()) {
	q.mu.Lock()
	line, busy := q.lines[about]
	if q.lines == nil {
		q.lines = map[sessions.Ref][]func(){}
	}
	q.lines[about] = append(line, f)
	q.mu.Unlock()
	if busy {
		return
	}
	for next := q.next(about); next != nil; next = q.next(about) {
		next()
	}
}

// next takes the oldest function out of a session's line. Once the line is empty it removes the
// line and returns nil.
func (q *queue) next(about sessions.Ref) func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.lines[about]
	if len(line) == 0 {
		delete(q.lines, about)
		return nil
	}
	next := line[0]
	line[0] = nil // it refers to the context of a turn, and so to the session's events
	q.lines[about] = line[1:]
	return next
}
