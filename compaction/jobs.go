package compaction

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/trace"
)

// jobs keeps the work on one session in order: one piece at a time, and one more in line at most. The
// one in line works with the handle that asked last, which knows the session best.
type jobs struct {
	slot chan struct{} // holds a token while nobody works

	mu     sync.Mutex
	queued *job
	// urgent counts turns at the hard limit that wait for the slot, and interrupt ends the background
	// job that holds it; nil while none does.
	urgent    int
	interrupt context.CancelFunc
	active    int           // working or in line
	idle      chan struct{} // closed while active is 0

	// reported are the unreadable records that the observer was told of. Guarded by the slot.
	reported map[eventKey]bool
}

func newJobs() *jobs {
	j := &jobs{slot: make(chan struct{}, 1), idle: make(chan struct{})}
	j.slot <- struct{}{}
	close(j.idle)
	return j
}

// enter announces a piece of work; every enter is followed by a leave.
func (j *jobs) enter() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.enterLocked()
}

func (j *jobs) enterLocked() {
	if j.active == 0 {
		j.idle = make(chan struct{})
	}
	j.active++
}

func (j *jobs) leave() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.active--; j.active == 0 {
		close(j.idle)
	}
}

// job is background work that waits in line. It belongs to the trace of the append that asked for it,
// whoever does it.
type job struct {
	handle *handle
	task   task
	caller trace.SpanContext
}

// enqueue puts a job in line and reports whether somebody must come and do it; otherwise the one who
// waits in line already does this job in place of its own.
func (j *jobs) enqueue(next job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	waiting := j.queued != nil
	j.queued = &next
	if !waiting {
		j.enterLocked()
	}
	return !waiting
}

// dequeue takes the job out of the line, so that another may get in.
func (j *jobs) dequeue() job {
	j.mu.Lock()
	defer j.mu.Unlock()
	next := *j.queued
	j.queued = nil
	return next
}

// acquire waits for the session to be free. The error is the context's.
func (j *jobs) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-j.slot:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *jobs) release() { j.slot <- struct{}{} }

// hurry announces a turn at the hard limit that waits; it is taken back by calling the result.
func (j *jobs) hurry() (done func()) {
	add := func(n int) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.urgent += n
	}
	add(1)
	return func() { add(-1) }
}

// hurried reports whether a turn at the hard limit waits.
func (j *jobs) hurried() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.urgent > 0
}

// interruptible notes how to end the background job that holds the slot; nil when it is done.
func (j *jobs) interruptible(cancel context.CancelFunc) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.interrupt = cancel
}

// takeOver ends the background job that holds the slot, if one does.
func (j *jobs) takeOver() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.interrupt != nil {
		j.interrupt()
	}
}

// wait waits until nothing works and nothing is in line. The error is the context's.
func (j *jobs) wait(ctx context.Context) error {
	j.mu.Lock()
	idle := j.idle
	j.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
