package compaction

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// candidate is a window and the trigger that made it due. An empty one has the reason why there is none.
type candidate struct {
	selector.Relief
	trigger record.Trigger
	// reader is the branch whose prompt the token trigger measured, and prompt its size.
	reader string
	prompt meter.Prompt
	// atLimitOnly says that only the hard limit made it due: the threshold is off, or the floor that an
	// earlier compaction left holds it back.
	atLimitOnly bool
	// missing is how many more invocations must begin before the invocation trigger can be due; -1 if
	// that was not found out.
	missing int
}

// findDue finds the next window that is due, in any branch. The invocation trigger goes first: it takes
// whole turns, and what it summarizes makes the prompt smaller as well.
func (s *snapshot) findDue() candidate {
	params := s.params
	if s.task.forced && s.task.extractive {
		params.MinTokens = nil // a model's summary was not shorter; this one will be, or is not stored
	}
	missing := math.MaxInt
	blocked := candidate{Relief: selector.Relief{Selection: selector.Selection{Reason: selector.NotDue}}}
	for _, branch := range s.branches {
		sel := s.invocations(params, branch)
		if !sel.Empty() {
			return candidate{Relief: selector.Relief{Selection: sel}, trigger: record.TriggerInvocations, missing: -1}
		}
		if sel.Reason == selector.NotDue {
			missing = min(missing, sel.Missing)
			continue
		}
		missing = min(missing, 1)
		blocked = candidate{Relief: selector.Relief{Selection: sel}, trigger: record.TriggerInvocations}
	}
	for _, reader := range s.branches {
		size, due := s.measure(reader)
		if !due && !(s.task.forced && size.AtMost >= s.limits.HardLimit) {
			continue
		}
		c := candidate{
			Relief:  selector.Relieve(s.input, params, s.branches, reader, s.mustFree(size.Likely)),
			trigger: record.TriggerTokens, reader: reader, prompt: size, atLimitOnly: !due, missing: missing,
		}
		if !c.Empty() {
			return c
		}
		if blocked.prompt.AtMost < s.limits.HardLimit { // nothing is more urgent than a prompt over the hard limit
			blocked = c
		}
	}
	blocked.missing = missing
	return blocked
}

// invocations selects for the invocation trigger. After failures it takes less at a time, down to an
// eighth of what the summarizer says it can read: it may know its own limit wrong, and windows that
// only grow would fail for ever.
func (s *snapshot) invocations(params selector.Params, branch string) selector.Selection {
	smaller := params
	smaller.MaxTokens >>= min(s.failures, 3)
	if s.oldest < len(s.input.Events) {
		part := s.input
		part.Events = s.input.Events[:s.oldest]
		if sel := selector.Invocations(part, smaller, branch); !sel.Empty() {
			sel.Cut = true
			return sel
		}
	}
	sel := selector.Invocations(s.input, smaller, branch)
	if sel.Reason == selector.TooLarge {
		return selector.Invocations(s.input, params, branch)
	}
	return sel
}

// mustFree is how many tokens a compaction must free at least that the hard limit forces, 0 for any
// other. It aims at the threshold: one that stopped just below the hard limit would be due again with
// the next event.
func (s *snapshot) mustFree(prompt int) int {
	if !s.task.forced {
		return 0
	}
	target := s.limits.HardLimit
	if s.limits.Threshold > 0 {
		target = s.limits.Threshold
	}
	return max(1, prompt-target+s.limits.SummaryTokens)
}

// oldestEvents is how many of the oldest visible events the invocation trigger looks at first, so that a
// window of a history of a million events costs no more than that of a few thousand. They hold more than
// the summarizer can read, if an event takes 8 tokens. What they leave raw because it is their newest, or
// because its answer lies beyond them, is taken with what follows.
func (p *policy) oldestEvents() int { return max(4096, p.windowTokens/8) }

// snapshot is the handle's session as it is now, for a task.
func (s *CompactionSessionService) snapshot(h *handle, t task) snapshot {
	h.catchUp()
	state := h.view.State()
	input, params := h.history(state), s.params(h.state)
	return snapshot{
		task: t, state: state, input: input, params: params, branches: meter.BranchesOf(state.View),
		at: selector.Positions(input, params),
		measure: func(reader string) (meter.Prompt, bool) {
			size := h.meter.Prompt(reader)
			return size, h.state.prompts.IsDue(reader, size)
		},
		limits: h.state.prompts.Limits(), maxSummaries: s.policy.MaxSummaries,
		failures: h.state.learned.Attempts.Status().Failures, oldest: s.policy.oldestEvents(),
	}
}

// currentOf returns the current records of a branch in the order of the view.
func currentOf(state *view.State, branch string) []*record.Metadata {
	return slices.DeleteFunc(slices.Clone(state.Current), func(m *record.Metadata) bool { return m.Branch != record.Normalize(branch) })
}

// isDue reports whether a job would find a window and may start now. A caller's Pin function that panics
// makes nothing due.
func (s *CompactionSessionService) isDue(h *handle) bool {
	if !s.policy.automatic() || h.state.learned.Attempts.BacksOff(time.Now()) {
		return false
	}
	c, err := s.prospect(h)
	return err == nil && !c.Empty()
}

// prospect finds what is due, for those who only ask: a panic becomes an error.
func (s *CompactionSessionService) prospect(h *handle) (c candidate, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	looked := h.turns.Checking()
	now := s.snapshot(h, task{})
	c = now.findDue()
	if c.missing >= 0 {
		looked(c.missing)
	}
	return c, nil
}

// history is what a selection is made from.
func (h *handle) history(state *view.State) selector.Input {
	events := make([]*session.Event, 0, len(state.View))
	for _, ev := range state.View {
		if state.IsStored(ev) {
			events = append(events, ev)
		}
	}
	return selector.Input{Events: events, Covered: state.Covered, Current: state.Current}
}

func (s *CompactionSessionService) params(st *sessionState) selector.Params {
	return selector.Params{
		Threshold: s.policy.InvocationThreshold,
		Overlap:   s.policy.OverlapSize,
		Retain:    s.policy.RetainEvents,
		MaxTokens: s.policy.windowTokens,
		Cost:      summarizer.Cost,
		Size:      promptsize.OfEvent,
		MinTokens: func(window string) int { return max(st.learned.Windows.Least(window), leastWindow(window)) },
		Running:   st.runs.running,
		Pin: func(ev *session.Event) bool {
			return st.learned.Events.Unreferencable(ev) || s.policy.Pin != nil && s.policy.Pin(ev)
		},
	}
}

// now is the time through ADK's seam, so that tests and replays can set it.
func now(ctx context.Context) time.Time { return platform.Now(ctx) }

// leastWindow is what a window must have for a summary of it to be any shorter: the frame of a summary
// alone takes up as much as a few short messages.
func leastWindow(string) int { return promptsize.Frame(record.KindSummary, false) + meter.MinSummary }
