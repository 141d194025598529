package queue

import "context"

// Lock is a mutex whose Acquire takes a context, because a turn must not wait longer than its
// caller allows.
type Lock chan struct{}

// NewLock returns a lock that nobody holds.
func NewLock() Lock { return make(Lock, 1) }

// Acquire takes the lock. The error is the context's; then the lock is not held.
func (l Lock) Acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.AcquireFree(ctx)
}

// AcquireFree is Acquire for a caller whom an ended context refuses nothing but waiting: it takes a lock that is free.
func (l Lock) AcquireFree(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	default:
	}
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release releases the lock. Any goroutine may call it, not only the one that called Acquire.
func (l Lock) Release() { <-l }
