package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"

	"google.golang.org/adk/session"
)

// ErrNotShown is returned by a [Case] that cannot run because the stack hides the full history.
var ErrNotShown = errors.New("nothing in this stack of services can be unwrapped to one with a method Raw")

// Case is one rule that a compacting session service must keep in any stack of services.
type Case struct {
	// Name is a short, unique name.
	Name string
	// Explain describes the rule and the damage to an agent if it is broken.
	Explain string
	// Check plays part of a conversation on an empty service. It returns every violation it found,
	// joined, or nil if there is none.
	Check func(ctx context.Context, service session.Service) error
}

// Cases returns all cases.
func Cases() []Case {
	var cases []Case
	for _, some := range [][]Case{viewCases(), callCases(), storageCases(), serviceCases()} {
		for _, c := range some {
			cases = append(cases, guarded(c))
		}
	}
	return cases
}

// Run tests a service that compacts sessions, or a decorator of one. open returns the whole stack
// as a runner would get it, over empty storage. It is called once per case.
//
// The stack must compact by turns, often and immediately, or there is nothing to check. With
// package compaction, set Synchronous and keep InvocationThreshold and OverlapSize at their
// defaults or lower. Use [Oracle] as the summarizer, because summaries must keep all fact tokens.
//
// The cases about storage need a service with a method Raw(context.Context, *session.GetRequest),
// as in package compaction. They look for it by calling Unwrap() session.Service down the stack. If
// there is none, Run skips them and tests only what readers of sessions see.
//
// Run over a [StrictService] finds mistakes that other backends forgive.
func Run(t *testing.T, open func(t *testing.T) session.Service) {
	t.Helper()
	run(t, Cases(), open)
}

// guarded returns a case that reports a panic of the service as a violation, so that one does not end all tests. A panic
// in a goroutine of the service still does.
func guarded(c Case) Case {
	check := c.Check
	c.Check = func(ctx context.Context, service session.Service) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = errors.Join(err, fmt.Errorf("the service panicked: %v\n%s", r, debug.Stack()))
			}
		}()
		return check(ctx, service)
	}
	return c
}

// run runs each case on its own service.
func run(t *testing.T, cases []Case, open func(t *testing.T) session.Service) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			switch err := c.Check(t.Context(), open(t)); {
			case errors.Is(err, ErrNotShown), errors.Is(err, errNotOffered):
				t.Skip(err)
			case err != nil:
				t.Errorf("%v\n\n%s", err, c.Explain)
			}
		})
	}
}

// findings collects violations. A broken service may break a rule at every event, so only the first
// few violations of each kind are kept.
type findings struct {
	errs  []error
	kinds map[string]int
	more  int
}

const maxOfKind = 2

func (f *findings) add(format string, args ...any) {
	if f.kinds == nil {
		f.kinds = map[string]int{}
	}
	if f.kinds[format]++; f.kinds[format] > maxOfKind {
		f.more++
		return
	}
	f.errs = append(f.errs, fmt.Errorf(format, args...))
}

func (f *findings) join() error {
	if f.more > 0 {
		return errors.Join(errors.Join(f.errs...), fmt.Errorf("and %d more of these kinds", f.more))
	}
	return errors.Join(f.errs...)
}
