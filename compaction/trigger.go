package compaction

import (
	"context"
	"fmt"
	"runtime/debug"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// afterAppend looks whether something is due now that an event was appended. It must never harm the
// turn that appended it.
func (s *CompactionSessionService) afterAppend(ctx context.Context, h *handle, ev *session.Event) {
	t := task{invocationID: ev.InvocationID}
	defer s.survive(ctx, h.state, t)
	if invocation, ok := ctx.(agent.InvocationContext); ok {
		t.invocationID = invocation.InvocationID()
		h.state.runs.started(ctx, t.invocationID, h)
	}
	if h.listed || !s.policy.automatic() {
		return
	}
	s.followModel(ctx, h.state)
	s.checkReport(ctx, h, ev)
	due := h.meter.begins(ev) && s.policy.InvocationThreshold > 0
	switch s.pressure(h, ev) {
	case overLimit:
		due, t.forced = true, true
	case overThreshold:
		due = true
	}
	switch {
	case !due:
	case t.forced || s.policy.Synchronous:
		s.inline(ctx, h, t)
	default:
		s.background(ctx, h, t)
	}
}

// automatic reports whether any trigger is on.
func (p *policy) automatic() bool { return p.InvocationThreshold > 0 || p.limits.threshold > 0 }

// survive keeps a panic, of a caller's Pin function above all, away from the turn.
func (s *CompactionSessionService) survive(ctx context.Context, st *sessionState, t task) {
	if cause := recover(); cause != nil {
		s.fail(ctx, st, t, fmt.Errorf("%w: %v\n%s", errPanicked, cause, debug.Stack()))
	}
}

type pressure int

const (
	none pressure = iota
	overThreshold
	overLimit
)

// pressure compares the prompts that the new event makes possible with the limits. Nothing can be
// sent after a call, and a user's event may be answered by an agent of any branch.
func (s *CompactionSessionService) pressure(h *handle, ev *session.Event) pressure {
	class := adk.Classify(ev)
	if class.Is(adk.Calls) {
		return none
	}
	h.catchUp()
	readers := []string{ev.Branch}
	if class.Is(adk.ByUser) {
		readers = h.meter.branches(h.view)
	}
	highest := none
	for _, branch := range readers {
		size := h.meter.prompt(h, branch)
		over := s.passes(h.state, branch, size)
		switch {
		case s.isQuiet(h.state, branch, size):
		case size.most >= s.limits(h.state).limit:
			return overLimit
		case over:
			highest = overThreshold
		}
	}
	return highest
}

// passes reports whether a prompt of that size sets off the token trigger: it is over the threshold,
// and no token floor of an earlier compaction holds the trigger back.
func (s *CompactionSessionService) passes(st *sessionState, branch string, size prompt) bool {
	limits, windows := s.limits(st), &st.learned.Windows
	on := limits.threshold > 0
	if on && size.likely < limits.threshold || !on && size.most < limits.limit {
		windows.Relieved(branch)
		return false
	}
	return on && size.likely >= windows.Floor(branch)
}

// isQuiet reports whether a prompt of that size is not worth a look: at the last one there was nothing
// to summarize. Over the hard limit every event is looked at: it may be what sets free the one before.
func (s *CompactionSessionService) isQuiet(st *sessionState, branch string, size prompt) bool {
	return size.likely < st.learned.Windows.QuietUntil(branch) && size.most < s.limits(st).limit
}
