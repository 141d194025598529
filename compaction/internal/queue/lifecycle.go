package queue

import "sync"

// lifecycle counts the work of a whole service and turns new work away once it is closed.
type lifecycle struct {
	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// begin reports whether new work may begin; if so, done must follow.
func (l *lifecycle) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.work.Add(1)
	return true
}

func (l *lifecycle) done() { l.work.Done() }

func (l *lifecycle) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}
