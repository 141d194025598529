package replaycmd

import (
	"context"
	"errors"
	"sync"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// task is a conversation on its way through the workers.
type task struct {
	item
	played chan outcome // of capacity 1
}

// outcome is the result of a task.
type outcome struct {
	reports []*replay.Report
	err     error
}

// workers play conversations concurrently and return them in the order of the input. At most about
// two conversations for each worker are in memory at once: the one it plays, and one that waits in
// line until it is reported.
//
// For example, two workers play a, b and c. If b is done before a, its worker begins c, and the result
// of b waits in its channel. Then a is done: a and b are reported in this order, and c follows.
type workers struct {
	play func(context.Context, *conversation.Conversation) ([]*replay.Report, error)
	jobs int
}

// run reads tasks and passes them to done in order. It returns the first error of done. If ctx
// ends, it passes on every task that was played by then and returns the error of ctx. It does not
// wait for the reader, which may be blocked in a read that cannot be interrupted.
func (w workers) run(ctx context.Context, read func(yield func(item) bool), done func(task, outcome) error) error {
	ctx, stop := context.WithCancel(ctx)
	line := &line{order: make(chan task, w.jobs), done: done}
	todo := make(chan task)
	var playing sync.WaitGroup
	for range w.jobs {
		playing.Go(func() { w.work(ctx, todo) })
	}
	go func() {
		defer close(line.order)
		read(func(it item) bool { return line.join(ctx, it, todo) })
	}()

	// If serve ends early, for whatever reason, stop ends the workers and the reader.
	err := line.serve(ctx, false)
	interrupted := ctx.Err() != nil
	stop()
	playing.Wait()
	if interrupted {
		return errors.Join(line.serve(ctx, true), err)
	}
	return err
}

func (w workers) work(ctx context.Context, todo <-chan task) {
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-todo:
			reports, err := w.play(ctx, t.conversation)
			t.played <- outcome{reports, err}
		}
	}
}

// line holds the tasks in the order of the input.
type line struct {
	order chan task
	head  *task // the next one to pass on
	done  func(task, outcome) error
}

// join puts an item at the end of the line and, if it is a conversation, passes it to a worker. It
// waits while the line is full, which bounds the memory, and reports false once ctx ends.
func (l *line) join(ctx context.Context, it item, todo chan<- task) bool {
	t := task{item: it, played: make(chan outcome, 1)}
	if it.err != nil {
		t.played <- outcome{err: it.err}
	}
	select {
	case l.order <- t:
	case <-ctx.Done():
		return false
	}
	if it.err != nil {
		return true
	}
	select {
	case todo <- t:
		return true
	case <-ctx.Done():
		return false
	}
}

// serve passes on one task after the other, until all are read, done fails or ctx ends. With rest, ctx
// has ended and the workers have returned: serve then passes on every task that was played, and skips
// the others. For example, if b and c were played while a was not, serve without rest ends at a, and
// with rest passes on b and c.
func (l *line) serve(ctx context.Context, rest bool) error {
	for {
		if l.head == nil {
			t, open, ready := receive(ctx, l.order)
			switch {
			case !open, !ready && rest:
				return nil
			case !ready:
				return ctx.Err()
			}
			l.head = &t
		}
		o, _, ready := receive(ctx, l.head.played)
		played := ready && (o.err == nil || ctx.Err() == nil) // else the end of ctx is the cause of o.err
		if !played && !rest {
			return ctx.Err()
		}
		t := *l.head
		l.head = nil
		if played {
			if err := l.done(t, o); err != nil {
				return err
			}
		}
	}
}

// receive waits for a value until ctx ends. A value that is there already counts even then. open is
// false if the channel is closed and empty, and ready is false if ctx ended first.
func receive[T any](ctx context.Context, from <-chan T) (value T, open, ready bool) {
	select {
	case value, open = <-from:
		return value, open, true
	default:
	}
	select {
	case value, open = <-from:
		return value, open, true
	case <-ctx.Done():
		return value, true, false
	}
}
