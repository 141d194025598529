package telemetry

import (
	"context"
	"errors"

	"github.com/adk-go-ext/longsession/summarizer"
)

// The failures of the service itself that error.type distinguishes.
var (
	ErrPanicked  = errors.New("panicked")
	ErrHanging   = errors.New("an earlier summarizer call for this session has not returned yet")
	ErrNotStored = errors.New("store compaction record")
)

// errorType sorts a failure into one of few kinds, for the attribute error.type.
func errorType(err error) string {
	for _, kind := range []struct {
		of   error
		name string
	}{
		{ErrPanicked, "panic"},
		{summarizer.ErrPanic, "panic"},
		{ErrNotStored, "not_stored"},
		{ErrHanging, "hanging"},
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
