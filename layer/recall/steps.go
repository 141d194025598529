package recall

import (
	"context"
	"fmt"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/hanging"
)

const (
	// mostHanging is how many searches may hang, of all sessions. They keep their memory until they return.
	mostHanging = 64
	// grace is how long a search may take to notice that its context has ended.
	grace = time.Second
	// forever is longer than any search: only its context ends it.
	forever = 365 * 24 * time.Hour
)

// steps runs what calls the app's functions and the inner service.
type steps struct {
	hanging hanging.Steps[compaction.SessionRef]
}

// run runs a step that calls the app's functions or the inner service. When its context has ended, the step is given
// up, and while it hangs no other one is started for its session. Its panic is an error.
func (s *steps) run(ctx context.Context, ref compaction.SessionRef, step func(context.Context) error) error {
	waiting, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	late := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { giveUp(context.Cause(ctx)) })
		context.AfterFunc(waiting, func() { timer.Stop() })
	})
	defer late()
	failed := make(chan error, 1) // nobody reads that of a step that was given up
	err := s.hanging.Run(waiting, forever, ref, func(context.Context) error {
		failed <- step(ctx)
		return nil
	})
	if err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	return <-failed
}
