package workload

import (
	"context"
	"sync"

	"google.golang.org/adk/session"
)

var _ session.Service = (*Locked)(nil)

// Locked lets one append through at a time, so that no two can share a commit.
type Locked struct {
	session.Service
	mu sync.Mutex
}

// AppendEvent appends when no other append is under way.
func (l *Locked) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Service.AppendEvent(ctx, sess, ev)
}
