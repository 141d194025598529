package cli

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

// outcome is what came of a task.
type outcome struct {
	reports []*replay.Report
	err     error
}

// workers play conversations side by side and hand them out in the order in which they were read. Not
// more than about two for each worker are in memory at once.
type workers struct {
	play func(context.Context, *conversation.Conversation) ([]*replay.Report, error)
	jobs int
}

// run reads tasks with read and gives each to done when its turn has come. It returns done's first error;
// or ctx's, after it has given done every task that was played by then. The reader may be stuck in a
// read that nothing can end, so it is not waited for.
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

	err := line.serve(ctx)
	interrupted := ctx.Err() != nil
	stop()
	playing.Wait()
	if interrupted {
		return errors.Join(line.finished(), err)
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

// line is the tasks in the order in which they were read.
type line struct {
	order chan task
	head  *task // the one whose turn it is
	done  func(task, outcome) error
}

// join puts an item at the end of the line, and gives a conversation to a worker.
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

// serve hands out one task after the other until all were read, done fails or ctx ends.
func (l *line) serve(ctx context.Context) error {
	for {
		if l.head == nil {
			select {
			case t, more := <-l.order:
				if !more {
					return nil
				}
				l.head = &t
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		select {
		case o := <-l.head.played:
			if o.err != nil && ctx.Err() != nil {
				return ctx.Err() // that is why
			}
			t := *l.head
			l.head = nil
			if err := l.done(t, o); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finished hands out what was played when the line was given up. The workers must have ended.
func (l *line) finished() error {
	for {
		if l.head == nil {
			select {
			case t, more := <-l.order:
				if !more {
					return nil
				}
				l.head = &t
			default:
				return nil
			}
		}
		select {
		case o := <-l.head.played:
			if o.err == nil {
				if err := l.done(*l.head, o); err != nil {
					return err
				}
			}
		default:
		}
		l.head = nil
	}
}
