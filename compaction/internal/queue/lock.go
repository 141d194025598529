package queue

import "context"

// Lock is a mutex that can be waited for with a context: a turn must not wait for it longer than
// its caller allows.
type Lock chan struct{}

// NewLock returns a lock that is free.
func NewLock() Lock { return make(Lock, 1) }

// Acquire takes the lock. The error is the context's; then the lock is not held.
func (l Lock) Acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release gives the lock back. Another goroutine than the one that acquired it may do so.
func (l Lock) Release() { <-l }
