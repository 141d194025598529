package compaction

import "context"

// sessionLock is a mutex that can be waited for with a context: a turn must not wait for it longer
// than its caller allows.
type sessionLock chan struct{}

func newSessionLock() sessionLock { return make(sessionLock, 1) }

// acquire takes the lock. The error is the context's; then the lock is not held.
func (l sessionLock) acquire(ctx context.Context) error {
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

// release gives the lock back. Another goroutine than the one that acquired it may do so.
func (l sessionLock) release() { <-l }
