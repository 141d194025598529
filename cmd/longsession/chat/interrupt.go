package chat

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"time"
)

// errCanceled is the cause of a context that Ctrl-C has canceled.
var errCanceled = errors.New("chat: canceled by Ctrl-C")

// interrupts cancels what is under way when the person presses Ctrl-C. Where nobody else listens, it takes SIGINT
// from the process for as long as the chat runs.
type interrupts struct {
	presses <-chan struct{}
	stop    func()
	grace   time.Duration // how long work may take to end after the context of the chat has ended
}

// listen returns the interrupts of a channel, or those of the process if it is nil.
func listen(presses <-chan struct{}) *interrupts {
	if presses != nil {
		return &interrupts{presses: presses, stop: func() {}, grace: defaultGrace}
	}
	signals, own, ended := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, os.Interrupt)
	go func() {
		for {
			select {
			case <-signals:
			case <-ended:
				return
			}
			select {
			case own <- struct{}{}:
			case <-ended:
				return
			}
		}
	}()
	return &interrupts{presses: own, stop: sync.OnceFunc(func() { signal.Stop(signals); close(ended) }), grace: defaultGrace}
}

// defaultGrace is long enough for a tool's result to be stored, and shorter than the ten seconds after which service
// managers kill a process that they have told to end.
const defaultGrace = 6 * time.Second

// during runs f. The first Ctrl-C cancels its context with errCanceled as the cause; f's own error is replaced by that
// cause, because it says the same in other words. onCancel is called then. The second one does not wait for f: it
// returns ErrInterrupted while f may still run. If ctx ends, f has the grace to do so.
func (i *interrupts) during(ctx context.Context, f func(ctx context.Context) error, onCancel func()) error {
	ended := ctx.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var late <-chan time.Time
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	for pressed := false; ; {
		select {
		case err := <-done:
			if err != nil && errors.Is(context.Cause(ctx), errCanceled) {
				return errCanceled
			}
			return err
		case <-ended:
			ended, late = nil, time.After(i.grace)
		case <-late:
			return context.Cause(ctx)
		case <-i.presses:
			if pressed {
				return ErrInterrupted
			}
			pressed = true
			onCancel()
			cancel(errCanceled)
		}
	}
}
