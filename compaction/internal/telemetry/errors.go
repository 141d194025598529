package telemetry

import (
	"context"
	"errors"
	"fmt"

	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/summarizer"
)

var (
	// ErrCompaction is compaction.ErrCompaction, which marks every error that an observer gets.
	ErrCompaction = errors.New("compaction failed")
	// ErrDropped marks the error of the last try to store a summary.
	ErrDropped = errors.New("summary is dropped")
	// ErrNotStored marks the errors of the inner service.
	ErrNotStored = errors.New("store compaction record")
)

// Mark wraps an error so that errors.Is finds ErrCompaction in it, and the cause.
func Mark(cause error) error {
	if errors.Is(cause, ErrCompaction) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrCompaction, cause)
}

// errorTypePanic is the error.type of anything of the app's that panicked.
const errorTypePanic = "panic"

// errorType sorts a failure into one of few kinds, for the attribute error.type. The first kind in the
// list that the error's chain has counts: an inner service that panics is a panic, although the error
// is also one of storing.
func errorType(err error) string {
	for _, kind := range []struct {
		of   error
		name string
	}{
		{writer.ErrPanicked, errorTypePanic},
		{summarizer.ErrPanic, errorTypePanic},
		{ErrNotStored, "not_stored"},
		{writer.ErrHanging, "hanging"},
		{summarizer.ErrTooLong, "too_long"},
		{summarizer.ErrUnusable, "unusable_summary"},
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "canceled"},
	} {
		if errors.Is(err, kind.of) {
			return kind.name
		}
	}
	return "_OTHER"
}
