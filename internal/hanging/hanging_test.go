package hanging_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
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
	release := make(chan struct{})
	hang := func(context.Context) error { <-release; return nil }
	if err := steps.Run(t.Context(), time.Millisecond, "a", hang); !errors.Is(err, hanging.Err) {
		t.Fatalf("a step that hangs: %v", err)
	}
	again := func(context.Context) error { t.Error("the step was started again"); return nil }
	if err := steps.Run(t.Context(), time.Minute, "a", again); !errors.Is(err, hanging.Err) {
		t.Errorf("the second call: %v", err)
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
	const keys = 100
	release, calls := make(chan struct{}), make(chan int, keys)
	for key := range keys {
		// The time may be over before the goroutine of a step has begun: it counts from when Run was called.
		hang := func(context.Context) error { calls <- key; <-release; return nil }
		if err := steps.Run(t.Context(), time.Millisecond, key, hang); !errors.Is(err, hanging.Err) {
			t.Fatalf("a step that hangs: %v", err)
		}
	}
	started := []int{<-calls, <-calls, <-calls}
	close(release)
	for steps.Run(t.Context(), time.Minute, -1, func(context.Context) error { return nil }) != nil {
		runtime.Gosched() // until one has returned
	}
	if slices.Sort(started); !slices.Equal(started, []int{0, 1, 2}) || len(calls) > 0 {
		t.Errorf("the steps of %v and of %d more keys were started, want those of 0, 1 and 2", started, len(calls))
	}
}
