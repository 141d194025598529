package compaction

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
)

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
	if !line.enqueue(job{h, t, trace.SpanContextFromContext(ctx)}) {
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
		s.compactDue(trace.ContextWithSpanContext(ctx, next.caller), next.handle, next.task)
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
	s.compactDue(ctx, h, t)
}

// endingTime is how long a job that was ended may take to let go of its session. It only has to come
// back from a cancelled call; one that does not is stuck in the inner service.
const endingTime = 2 * time.Second

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
	ending, cancel := context.WithTimeout(ctx, endingTime)
	defer cancel()
	return st.jobs.acquire(ending) == nil
}

// Flush waits until nothing runs and nothing is due for a session: jobs under way and in line, the
// windows and merges that follow from them, and what was due before this process saw the session. It
// starts nothing that is not due, and gives up on what fails. The error is the context's only.
//
// Records that wait for the session's next append are stored at once. Over an inner service that is
// no [RecordAppender], this can cost another process that is in a turn on the session at that moment
// its state or its turn: call it where only this process uses the session.
func (s *CompactionSessionService) Flush(ctx context.Context, ref SessionRef) error {
	st := s.states.of(ref)
	if err := st.jobs.wait(ctx); err != nil {
		return err
	}
	s.storeNow(ctx, st)
	if h := s.tryHandleOf(ctx, ref); h != nil && s.isDue(h) {
		s.background(ctx, h, task{})
		st = h.state // another one, if the session was created anew in the meantime
	}
	if err := st.jobs.wait(ctx); err != nil {
		return err
	}
	s.storeNow(ctx, st)
	return ctx.Err()
}

// Close waits for all jobs of the service and starts no new ones. Sessions can still be read and
// appended to. When the context ends first, the jobs are cancelled and its error is returned.
//
// Records that wait for the next append of their session are stored at once, at the same risk as with
// [CompactionSessionService.Flush]; those that cannot be stored in time are lost with the process,
// and their events stay visible.
func (s *CompactionSessionService) Close(ctx context.Context) error {
	s.open.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.open.work.Wait()
		for _, st := range s.states.withDrafts() {
			if ctx.Err() != nil {
				return
			}
			s.storeNow(ctx, st)
		}
	}()
	select {
	case <-done:
		s.stop()
		return ctx.Err()
	case <-ctx.Done():
		s.stop()
		return ctx.Err()
	}
}
