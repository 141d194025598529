package compaction

import (
	"context"
	"fmt"
	"runtime/debug"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
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
	s.reportDoubt(ctx, h, ev)
	h.catchUp()
	due := h.turns.Add(ev) && s.policy.InvocationThreshold > 0
	switch h.meter.Pressure(ev) {
	case meter.OverLimit:
		due, t.forced = true, true
	case meter.OverThreshold:
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
func (p *policy) automatic() bool { return p.InvocationThreshold > 0 || p.limits.Threshold > 0 }

// survive keeps a panic, of a caller's Pin function above all, away from the turn.
func (s *CompactionSessionService) survive(ctx context.Context, st *sessionState, t task) {
	if cause := recover(); cause != nil {
		s.fail(ctx, st, t, fmt.Errorf("%w: %v\n%s", errPanicked, cause, debug.Stack()))
	}
}

// followModel brings a session's limits up to date with Config.AgentModelFunc. A function that panics
// changes nothing.
func (s *CompactionSessionService) followModel(ctx context.Context, st *sessionState) {
	if s.policy.AgentModelFunc == nil {
		return
	}
	defer func() { _ = recover() }()
	model := s.policy.AgentModelFunc(ctx, st.ref)
	if model == "" || model == st.prompts.Limits().Model {
		return
	}
	l := s.policy.sizes.Limits(model)
	st.prompts.SetLimits(l)
	s.reportAssumed(ctx, l)
}
