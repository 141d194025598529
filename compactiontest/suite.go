package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/adk/session"
)

// ErrNotShown is what a [Case] returns that could not look: the service hides what the case needs.
var ErrNotShown = errors.New("nothing in this stack of services can be unwrapped to one with a method Raw")

// Case is one rule that a compacting session service must keep, whatever stands below and above it.
type Case struct {
	// Name is short and unique.
	Name string
	// Explain says what the case guards, and what goes wrong in an agent if it fails.
	Explain string
	// Check plays a part of a conversation on an empty service and returns every violation that it saw,
	// joined; nil if there is none.
	Check func(ctx context.Context, service session.Service) error
}

// Cases returns all cases.
func Cases() []Case {
	var cases []Case
	for _, some := range [][]Case{viewCases(), callCases(), storageCases(), serviceCases()} {
		cases = append(cases, some...)
	}
	return cases
}

// Run checks a service that compacts sessions, or a decorator of one. open returns the whole stack as
// a runner would be given it, over empty storage; every case opens its own.
//
// The stack must compact by turns, often and at once, or there is nothing to check: with package
// compaction, set Synchronous and leave InvocationThreshold and OverlapSize as they are or smaller.
// Its summaries must keep all fact tokens, so use [Oracle] as the summarizer.
//
// Cases about storage look for a method Raw(context.Context, *session.GetRequest), as package
// compaction has it, through the stack's Unwrap() session.Service. Where there is none, they are
// skipped, and the rest goes by what readers of sessions see.
//
// Over a [StrictService] the cases find what other backends forgive.
func Run(t *testing.T, open func(t *testing.T) session.Service) {
	t.Helper()
	run(t, Cases(), open)
}

// run checks cases, each on a service of its own.
func run(t *testing.T, cases []Case, open func(t *testing.T) session.Service) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			switch err := c.Check(t.Context(), open(t)); {
			case errors.Is(err, ErrNotShown), errors.Is(err, ErrNotOffered):
				t.Skip(err)
			case err != nil:
				t.Errorf("%v\n\n%s", err, c.Explain)
			}
		})
	}
}

// findings collects violations. A broken service breaks a rule at every event, so only the first ones
// of each kind are kept.
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
