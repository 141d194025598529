package storage

import (
	"context"
	"fmt"

	"github.com/adk-go-ext/longsession/compaction/internal/writer"
)

// untilDone runs f in a goroutine of its own and returns f's results, or the context's error if the
// context ends first. In that case f goes on alone. A panic in f becomes an error.
func untilDone[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := guarded(f)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// guarded returns f's results. A panic in f, and so in the inner service, becomes an error.
func guarded[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("inner session service %w: %v", writer.ErrPanicked, cause)
		}
	}()
	return f()
}
