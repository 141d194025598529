package workload

import (
	"context"
	"sync"

	"google.golang.org/adk/session"
)

var _ session.Service = (*Locked)(nil)

// Locked serializes appends, so that no two share a commit.
type Locked struct {
	session.Service
	mu sync.Mutex
}

// AppendEvent waits until no other append is running.
func (l *Locked) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Service.AppendEvent(ctx, sess, ev)
}
