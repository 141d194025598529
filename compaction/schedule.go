package compaction

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/adk-go-ext/longsession/compaction/internal/queue"
)

// job is background work on a session. It belongs to the trace of the append that asked for it,
// whichever goroutine does it.
type job struct {
	handle *handle
	task   task
	caller trace.SpanContext
}

// background does the work that is due for a handle's session after the turn, in its own time.
func (s *CompactionSessionService) background(ctx context.Context, h *handle, t task) {
	queue.Background(ctx, s.queue, h.state.line, job{h, t, trace.SpanContextFromContext(ctx)}, func(ctx context.Context, j job) {
		s.compactDue(trace.ContextWithSpanContext(ctx, j.caller), j.handle, j.task)
	})
}

// inline does the work that is due before it returns, within the time-out: the next prompt shall be
// smaller. A turn at the hard limit that waited in vain goes on without a model.
func (s *CompactionSessionService) inline(ctx context.Context, h *handle, t task) {
	t.inline = true
	t.deadline = time.Now().Add(s.policy.Timeout)
	attempts := &h.state.learned.Attempts
	queue.Inline(ctx, s.queue, h.state.line, queue.Turn{
		Deadline: t.deadline, AtLimit: t.forced,
		Impatient: attempts.TriedInline(t.invocationID),
		GivenUp:   func() { attempts.NoteInline(t.invocationID) },
	}, func(preempted bool) {
		t.extractive = preempted
		s.compactDue(ctx, h, t)
	})
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
	if err := st.line.Wait(ctx); err != nil {
		return err
	}
	s.storeNow(ctx, st)
	if h := s.tryHandleOf(ctx, ref); h != nil && s.isDue(h) {
		s.background(ctx, h, task{})
		st = h.state // another one, if the session was created anew in the meantime
	}
	if err := st.line.Wait(ctx); err != nil {
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
	return s.queue.Close(ctx, func() {
		for _, st := range s.states.withDrafts() {
			if ctx.Err() != nil {
				return
			}
			s.storeNow(ctx, st)
		}
	})
}
