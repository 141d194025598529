package queue

import (
	"slices"
	"sync"
)

// Waiting is a queue of items to be stored in a session, oldest first. The zero value is ready, and
// safe for concurrent use.
type Waiting[T comparable] struct {
	mu     sync.Mutex
	closed bool
	items  []T
}

// All returns the items, oldest first.
func (w *Waiting[T]) All() []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.items)
}

// Add appends an item. It reports false, and does nothing, if Waiting is closed.
func (w *Waiting[T]) Add(item T) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.items = append(w.items, item)
	return true
}

// Take removes an item and reports whether it was there. If two goroutines work on one item, only
// the first to take it may report its outcome.
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

// Close makes Add refuse further items. It is called when the session is deleted, after which no
// append would store them.
func (w *Waiting[T]) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// Closed reports whether Close was called.
func (w *Waiting[T]) Closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}
