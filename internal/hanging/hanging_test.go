package hanging_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/internal/hanging"
)

func TestStepsSurviveWhatTheyRun(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	var steps hanging.Steps[string]
	for name, c := range map[string]struct {
		step func(context.Context) error
		want string
	}{
		"works":              {func(context.Context) error { return nil }, ""},
		"fails":              {func(context.Context) error { return failed }, "failed"},
		"panics":             {func(context.Context) error { panic("no") }, "panic: no"},
		"ends its goroutine": {func(context.Context) error { runtime.Goexit(); return nil }, "it ended its goroutine"},
	} {
		err := steps.Run(t.Context(), time.Minute, name, c.step)
		if got := message(err); got != c.want {
			t.Errorf("a step that %s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAStepThatHangsIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	var steps hanging.Steps[string]
	release, calls := make(chan struct{}), atomic.Int32{}
	hang := func(context.Context) error { calls.Add(1); <-release; return nil }
	if err := steps.Run(t.Context(), time.Millisecond, "a", hang); !errors.Is(err, hanging.Err) {
		t.Fatalf("a step that hangs: %v", err)
	}
	if err := steps.Run(t.Context(), time.Minute, "a", hang); !errors.Is(err, hanging.Err) || calls.Load() != 1 {
		t.Errorf("the second call: %v, and the step was started %d times", err, calls.Load())
	}
	if err := steps.Run(t.Context(), time.Minute, "b", func(context.Context) error { return nil }); err != nil {
		t.Errorf("another key: %v", err)
	}
	close(release)
	for steps.Run(t.Context(), time.Minute, "a", func(context.Context) error { return nil }) != nil {
		runtime.Gosched() // until the first one has returned
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A step that hangs for everybody must not leave a goroutine for each of thousands of keys.
func TestTheNumberOfStepsThatHangIsBounded(t *testing.T) {
	t.Parallel()
	steps := hanging.Steps[int]{Most: 3}
	release, calls := make(chan struct{}), atomic.Int32{}
	hang := func(context.Context) error { calls.Add(1); <-release; return nil }
	for key := range 100 {
		if err := steps.Run(t.Context(), time.Millisecond, key, hang); !errors.Is(err, hanging.Err) {
			t.Fatalf("a step that hangs: %v", err)
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d steps were started, want 3", calls.Load())
	}
	close(release)
	for steps.Run(t.Context(), time.Minute, -1, func(context.Context) error { return nil }) != nil {
		runtime.Gosched() // until one has returned
	}
}
