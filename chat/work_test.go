package chat

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// Work that was left may go on for a while. It must not write into the shell that follows.
func TestWorkThatWasLeftIsNotShown(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	press, begun, free, written := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	c := &Chat{screen: newScreen(&out, &errs), interrupt: listen(press)}
	ended := make(chan error)
	go func() {
		ended <- c.work(context.Background(), func(context.Context) error {
			close(begun)
			<-free
			c.screen.print("late")
			c.screen.note("late")
			c.screen.fail(errors.New("late"))
			close(written)
			return nil
		})
	}()
	<-begun
	press <- struct{}{}
	press <- struct{}{}
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Errorf("the work ended with %v", err)
	}
	shown := out.String() + errs.String()
	close(free)
	<-written
	if late := out.String() + errs.String(); late != shown {
		t.Errorf("%q became %q", shown, late)
	}
}

// A process that is told to end does not wait for a tool that does not listen.
func TestTheEndOfTheContextDoesNotWaitForDeafWork(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	defer close(free)
	ctx, cancel := context.WithCancel(context.Background())
	i := listen(make(chan struct{}))
	i.grace = 1
	err := i.during(ctx, func(context.Context) error {
		cancel()
		<-free
		return nil
	}, func() {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the work ended with %v", err)
	}
}
