// Package queue decides when the work on a session is done: at once or in the background, one piece
// at a time for each session, and a bounded number at a time for a whole service. It knows nothing
// about what the work is.
//
// A [Queue] belongs to a service, a [Line] to a session. A [Lock] orders the appends to a session,
// and [Waiting] holds what the next append stores.
package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrClosed says that the service is closed.
var ErrClosed = errors.New("service is closed")

// maxJobs bounds how many background jobs of a service work at a time, in all sessions together;
// more wait in line. Providers limit calls per minute, so more would only fail faster.
const maxJobs = 8

// endingTime is how long a job that was ended may take to release its session. It only has to
// return from a canceled call; one that does not return is stuck in the inner service.
const endingTime = 2 * time.Second

// Queue is the work of one service, safe for concurrent use.
type Queue struct {
	slots *semaphore.Weighted
	// stop ends the background jobs that are still running when Close's context ends.
	running context.Context
	stop    context.CancelFunc

	mu     sync.Mutex
	closed bool           // no new work may begin
	work   sync.WaitGroup // that has begun
}

// New returns a queue without work.
func New() *Queue {
	ctx, stop := context.WithCancel(context.Background())
	return &Queue{slots: semaphore.NewWeighted(maxJobs), running: ctx, stop: stop}
}

// begin reports whether new work may begin. If so, the caller must call work.Done after it.
func (q *Queue) begin() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.work.Add(1)
	}
	return !q.closed
}

// Background runs a job in a goroutine of its own. The job outlives the caller's turn: its context
// has the values of ctx, and does not end with it. If a job already waits in line, the new job
// replaces it and keeps its context. A closed queue ignores the job.
func (q *Queue) Background(ctx context.Context, line *Line, job func(context.Context)) {
	if !q.begin() {
		return
	}
	if !line.enqueue(job) {
		q.work.Done()
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(q.running, cancel)
	go func() {
		defer q.work.Done()
		defer unlink()
		defer cancel()
		defer line.done()
		// The service's slot comes first: a turn may wait for the one who holds the session's.
		if q.slots.Acquire(ctx, 1) != nil {
			line.dequeue()
			return
		}
		defer q.slots.Release(1)
		if line.slot.Acquire(ctx) != nil {
			line.dequeue()
			return
		}
		defer line.slot.Release()
		line.interruptible(cancel)
		defer line.interruptible(nil)
		line.dequeue()(ctx)
	}()
}

// Turn is a turn that waits for work to be done.
type Turn struct {
	// Deadline is how long the turn waits for work that is under way.
	Deadline time.Time
	// AtLimit says that the turn cannot go on without the work. It goes before background jobs, and
	// when its time is up, it ends the job under way.
	AtLimit bool
	// Impatient means that the turn has waited in vain before, and does not wait again.
	Impatient bool
	// GivenUp is called when the turn has waited in vain.
	GivenUp func()
}

// Inline does work that a turn waits for. It first waits for the work that is under way for the
// session; preempted is true if it ended that work instead. If the queue is closed, or the turn's
// deadline passes first, it returns without calling do.
func (q *Queue) Inline(ctx context.Context, line *Line, t Turn, do func(preempted bool)) {
	if !q.begin() {
		return
	}
	defer q.work.Done()
	line.begin()
	defer line.done()
	got, preempted := line.acquireFor(ctx, t)
	if !got {
		return
	}
	defer line.slot.Release()
	do(preempted)
}

// acquireFor waits for the session's slot for a turn, until its deadline. A turn at the hard limit
// then ends the job that holds the slot: a rough summary now is worth more than a good one later.
func (l *Line) acquireFor(ctx context.Context, t Turn) (got, preempted bool) {
	if t.AtLimit {
		l.urgent.Add(1)
		defer l.urgent.Add(-1)
	}
	if !t.Impatient {
		waiting, cancel := context.WithDeadline(ctx, t.Deadline)
		defer cancel()
		if l.slot.Acquire(waiting) == nil {
			return true, false
		}
		t.GivenUp()
	}
	if !t.AtLimit || ctx.Err() != nil {
		return false, false
	}
	l.preempt()
	ending, cancel := context.WithTimeout(ctx, endingTime)
	defer cancel()
	return l.slot.Acquire(ending) == nil, true
}

// ByHand does work that a person asked for, after the work that is under way for the session. The
// error is [ErrClosed], the context's, or that of do.
func (q *Queue) ByHand(ctx context.Context, line *Line, do func() error) error {
	if !q.begin() {
		return ErrClosed
	}
	defer q.work.Done()
	return line.Exclusively(ctx, do)
}

// Exclusively does work after the work that is under way for the session, even if the queue is
// closed. The error is the context's, or that of do.
func (l *Line) Exclusively(ctx context.Context, do func() error) error {
	l.begin()
	defer l.done()
	if err := l.slot.Acquire(ctx); err != nil {
		return err
	}
	defer l.slot.Release()
	return do()
}

// Close refuses new work, waits for the work that is under way, and then calls last. When the
// context ends first, background jobs are canceled and its error is returned.
func (q *Queue) Close(ctx context.Context, last func()) error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.work.Wait()
		last()
	}()
	defer q.stop()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return ctx.Err()
}
