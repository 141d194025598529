package queue

import (
	"sync"
	"time"
)

// Lease is the right to work on a session that this process has of all processes, or has not. The zero value
// is one that it has not. It is safe for concurrent use.
type Lease struct {
	mu      sync.Mutex
	release func()
	until   time.Time
}

// Keep keeps a lease that was taken until release is called, or until it expires.
func (l *Lease) Keep(release func(), until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release, l.until = release, until
}

// Lasts reports whether the process has the lease until that time.
func (l *Lease) Lasts(until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.release != nil && l.until.After(until)
}

// Release gives the lease back if the process has it.
func (l *Lease) Release() {
	l.mu.Lock()
	release := l.release
	l.release = nil
	l.mu.Unlock()
	if release != nil {
		release()
	}
}
