package budget

import (
	"context"
	"sync"
)

// maxWaiting is how many observations wait for a slow observer.
const maxWaiting = 1024

// outbox passes observations on to an observer, in order. A goroutine runs only while there are some. The
// zero value is empty.
type outbox struct {
	mu      sync.Mutex
	waiting []parcel
	missed  int           // since the newest one in waiting
	done    chan struct{} // closed once all are delivered; nil if none was added since
}

// parcel is an observation with the context of its origin.
type parcel struct {
	ctx context.Context
	o   Observation
}

// add adds an observation, or counts it as missed if too many are waiting.
func (b *outbox) add(p parcel, observer Observer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= maxWaiting {
		b.missed++
		return
	}
	p.o.Missed, b.missed = b.missed, 0
	b.waiting = append(b.waiting, p)
	if b.done == nil {
		b.done = make(chan struct{})
		go b.deliver(observer)
	}
}

// deliver works until nothing is waiting.
func (b *outbox) deliver(observer Observer) {
	for {
		b.mu.Lock()
		if len(b.waiting) == 0 {
			close(b.done)
			b.waiting, b.done = nil, nil
			b.mu.Unlock()
			return
		}
		next := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.mu.Unlock()
		func() {
			defer func() { _ = recover() }()
			observer.Observe(next.ctx, next.o)
		}()
	}
}

// empty returns a channel that is closed once all observations so far are delivered.
func (b *outbox) empty() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done != nil {
		return b.done
	}
	empty := make(chan struct{})
	close(empty)
	return empty
}
