package queue

import (
	"slices"
	"sync"
)

// Waiting holds what waits to be stored in a session, oldest first. The zero value is ready, and
// safe for concurrent use.
type Waiting[T comparable] struct {
	mu     sync.Mutex
	closed bool
	items  []T
}

// All returns what waits, oldest first.
func (w *Waiting[T]) All() []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.items)
}

// Add puts an item at the end of the line. It reports false, and does nothing, if the line is
// closed.
func (w *Waiting[T]) Add(item T) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.items = append(w.items, item)
	return true
}

// Take removes an item and reports whether it was there: of two goroutines that work on one item
// only the first may report what became of it.
func (w *Waiting[T]) Take(item T) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.items, item)
	if i < 0 {
		return false
	}
	w.items = slices.Delete(w.items, i, i+1)
	return true
}

// Close lets nothing more in: the session was deleted, so nobody would come to store it.
func (w *Waiting[T]) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// Closed reports whether the line is closed.
func (w *Waiting[T]) Closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}
