package compaction

import (
	"context"
	"sync"
	"time"
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

// job is background work that waits in line.
type job struct {
	handle *handle
	task   task
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

// gate counts the work of a whole service and turns new work away once it is closed.
type gate struct {
	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// enter reports whether new work may begin; if so it must leave.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.work.Add(1)
	return true
}

func (g *gate) leave() { g.work.Done() }

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// background does the work that is due for a handle's session in a goroutine of its own. It outlives
// the turn: the context's values are kept, its end is not.
func (s *CompactionSessionService) background(ctx context.Context, h *handle, t task) {
	if !s.open.enter() {
		return
	}
	line := h.state.jobs
	if !line.enqueue(job{h, t}) {
		s.open.leave()
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(s.running, cancel)
	go func() {
		defer s.open.leave()
		defer unlink()
		defer cancel()
		defer line.leave()
		// The service's slot comes first: whoever holds the session's may be waited for by a turn.
		if s.slots.Acquire(ctx, 1) != nil {
			line.dequeue()
			return
		}
		defer s.slots.Release(1)
		if line.acquire(ctx) != nil {
			line.dequeue()
			return
		}
		defer line.release()
		line.interruptible(cancel)
		defer line.interruptible(nil)
		next := line.dequeue()
		s.drain(ctx, next.handle, next.task)
	}()
}

// inline does the work that is due before it returns, within the time-out: the next prompt shall be
// smaller. What is under way for the session is waited for first.
func (s *CompactionSessionService) inline(ctx context.Context, h *handle, t task) {
	if !s.open.enter() {
		return
	}
	defer s.open.leave()
	t.inline = true
	t.deadline = time.Now().Add(s.policy.Timeout)
	line := h.state.jobs
	line.enter()
	defer line.leave()
	if !s.acquireInline(ctx, h.state, &t) {
		return
	}
	defer line.release()
	s.drain(ctx, h, t)
}

// acquireInline waits for what is under way for the session, until the deadline, once per invocation.
// A turn at the hard limit then ends it and goes on without a model: a rough summary now is worth
// more than a good one later.
func (s *CompactionSessionService) acquireInline(ctx context.Context, st *sessionState, t *task) bool {
	if t.forced {
		defer st.jobs.hurry()()
	}
	if !st.triedInline(t.invocationID) {
		waiting, cancel := context.WithDeadline(ctx, t.deadline)
		defer cancel()
		if st.jobs.acquire(waiting) == nil {
			return true
		}
		st.noteInline(t.invocationID)
	}
	if !t.forced || ctx.Err() != nil {
		return false
	}
	st.jobs.takeOver()
	t.extractive = true
	ending, cancel := context.WithTimeout(ctx, s.policy.Timeout)
	defer cancel()
	return st.jobs.acquire(ending) == nil
}

// Flush waits until nothing runs and nothing is due for a session: jobs under way and in line, the
// windows and merges that follow from them, and what was due before this process saw the session. It
// starts nothing that is not due, and gives up on what fails. The error is the context's only.
func (s *CompactionSessionService) Flush(ctx context.Context, ref SessionRef) error {
	st := s.states.of(ref)
	if err := st.jobs.wait(ctx); err != nil {
		return err
	}
	if h := s.load(ctx, ref); h != nil && s.isDue(h) {
		s.background(ctx, h, task{})
	}
	return st.jobs.wait(ctx)
}

// Close waits for all jobs of the service and starts no new ones. Sessions can still be read and
// appended to. When the context ends first, the jobs are cancelled and its error is returned.
func (s *CompactionSessionService) Close(ctx context.Context) error {
	s.open.close()
	done := make(chan struct{})
	go func() {
		s.open.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		s.stop()
		return nil
	case <-ctx.Done():
		s.stop()
		return ctx.Err()
	}
}
