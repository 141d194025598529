// Package outbox passes items on in the background, to a receiver that may be slow, panic or hang.
package outbox

import (
	"context"
	"sync"

	"github.com/adk-go-ext/longsession/internal/survive"
)

// Max is how many items wait for a slow receiver.
const Max = 1_024

// Outbox passes items on in order, one at a time. A goroutine runs only while there are some. The zero
// value is empty and ready to use. It is safe for concurrent use, and must not be copied.
type Outbox[T any] struct {
	mu      sync.Mutex
	waiting []entry[T]
	missed  int           // since the newest entry
	done    chan struct{} // closed once all are delivered; nil if none was added since

	places survive.Places
}

type entry[T any] struct {
	item   T
	missed int
}

// Add passes an item to deliver, which also receives how many items were lost in front of it. An item is
// lost if [Max] are waiting. Add never waits. deliver must be the same function in every call.
func (b *Outbox[T]) Add(item T, deliver func(item T, missed int)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= Max {
		b.missed++
		return
	}
	b.waiting = append(b.waiting, entry[T]{item, b.missed})
	b.missed = 0
	if b.done == nil {
		b.done = make(chan struct{})
		go b.run(deliver)
	}
}

// run delivers until nothing is waiting. If deliver panics or ends the goroutine, the next items have one
// of their own.
func (b *Outbox[T]) run(deliver func(T, int)) {
	finished := false
	defer func() {
		if !finished {
			go b.run(deliver)
		}
	}()
	defer b.places.Survive("an observer")
	for {
		next, ok := b.next()
		if !ok {
			finished = true
			return
		}
		deliver(next.item, next.missed)
	}
}

// next takes the oldest entry. If there is none, everything is delivered.
func (b *Outbox[T]) next() (entry[T], bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		close(b.done)
		b.waiting, b.done = nil, nil
		return entry[T]{}, false
	}
	oldest := b.waiting[0]
	b.waiting = b.waiting[1:]
	return oldest, true
}

// Flush waits until all items so far are delivered. It returns only the context's error.
func (b *Outbox[T]) Flush(ctx context.Context) error {
	b.mu.Lock()
	done := b.done
	b.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
