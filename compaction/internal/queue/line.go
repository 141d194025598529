package queue

import (
	"context"
	"sync"
	"sync/atomic"
)

// Line keeps the work on one session in order: one piece at a time, and at most one more in line.
// The one in line is the job that was requested last, because its handle knows the session best.
//
//	turn 5 ends: job A begins      turn 6 ends: job B waits      turn 7 ends: job C replaces B
type Line struct {
	slot Lock // held while somebody works

	urgent atomic.Int32 // turns at the hard limit that wait for the slot

	mu     sync.Mutex
	queued func(context.Context)
	// interrupt ends the background job that holds the slot; nil while none does.
	interrupt context.CancelFunc
	active    int           // working or in line
	idle      chan struct{} // closed while active is 0
}

// NewLine returns a line in which nobody works.
func NewLine() *Line {
	l := &Line{slot: NewLock(), idle: make(chan struct{})}
	close(l.idle)
	return l
}

// begin announces a piece of work; every begin is followed by a done.
func (l *Line) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beginLocked()
}

func (l *Line) beginLocked() {
	if l.active == 0 {
		l.idle = make(chan struct{})
	}
	l.active++
}

func (l *Line) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active--; l.active == 0 {
		close(l.idle)
	}
}

// enqueue puts a job in line and reports whether the caller must start a goroutine for it.
// Otherwise the goroutine that already waits in line does this job instead of its own.
func (l *Line) enqueue(job func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.queued != nil
	l.queued = job
	if !waiting {
		l.beginLocked()
	}
	return !waiting
}

// dequeue takes the job out of the line, so that another can be put in.
func (l *Line) dequeue() func(context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	job := l.queued
	l.queued = nil
	return job
}

// Prioritized reports whether a turn at the hard limit waits. A background job then gives way.
func (l *Line) Prioritized() bool { return l.urgent.Load() > 0 }

// interruptible sets the function that ends the background job in the slot; nil once that is done.
func (l *Line) interruptible(cancel context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interrupt = cancel
}

// preempt ends the background job that holds the slot, if one does.
func (l *Line) preempt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.interrupt != nil {
		l.interrupt()
	}
}

// Busy reports whether work is under way or in line.
func (l *Line) Busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active > 0
}

// Wait waits until no work is under way or in line. The error is the context's.
func (l *Line) Wait(ctx context.Context) error {
	l.mu.Lock()
	idle := l.idle
	l.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
