package compaction

import (
	"context"
	"fmt"
	"math"
	"time"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// task is one occasion to compact a session.
type task struct {
	trigger      record.Trigger
	invocationID string
	// inline says that a turn waits, until deadline at most.
	inline   bool
	deadline time.Time
	// forced says that the prompt is over the hard limit: it must get smaller whatever it takes.
	forced bool
	// byHand says that a person waits for an answer.
	byHand bool
	// extractive says that no model is asked.
	extractive bool
	// shorter, if not 0, is how long the summary may be at most, in tokens.
	shorter int
	kind    record.Kind
	focus   string
	note    string
	// pack is the wording that a person asked for, "" for the configured one.
	pack summarizer.Pack
}

// found is what a look came up with: a window and the trigger that made it due.
type found struct {
	selector.Selection
	trigger record.Trigger
	// reader is the branch whose prompt the token trigger measured.
	reader string
	prompt prompt
	// held says that only the hard limit made it due: the threshold is off, or the gate holds it back.
	held bool
	// unbounded says that the window may be larger than what the summarizer can read.
	unbounded bool
	// spare is what the windows of all branches that the reader sees hold together, in tokens.
	spare int
}

// look finds the next window that is due, in any branch; an empty selection says why there is none.
func (s *CompactionSessionService) look(h *handle, t task) found {
	h.catchUp()
	looked := h.meter.looking()
	state := h.view.State()
	history := h.history(state)
	params := s.params(h.state)
	if t.forced && t.extractive {
		params.MinTokens = nil // a model's summary was not shorter; this one will be, or is not stored
	}
	here := branches(state.View)
	missing := math.MaxInt
	blocked := found{Selection: selector.Selection{Reason: selector.NotDue}}
	for _, branch := range here {
		sel := s.invocations(h.state, history, params, branch)
		if !sel.Empty() {
			return found{Selection: sel, trigger: record.TriggerInvocations}
		}
		if sel.Reason == selector.NotDue {
			missing = min(missing, sel.Missing)
			continue
		}
		missing = min(missing, 1)
		blocked = found{Selection: sel, trigger: record.TriggerInvocations}
	}
	looked(missing)
	for _, reader := range here {
		size := h.meter.prompt(h, reader)
		over := s.passes(h.state, reader, size)
		if !over && !(t.forced && size.most >= s.limits(h.state).limit) {
			continue
		}
		f := s.largest(history, params, here, reader, s.excess(h, t, size.likely))
		f.trigger, f.reader, f.prompt, f.held = record.TriggerTokens, reader, size, !over
		if !f.Empty() {
			return f
		}
		if blocked.prompt.most < s.limits(h.state).limit { // nothing is more urgent than a prompt over the hard limit
			blocked = f
		}
	}
	return blocked
}

// invocations selects for the invocation trigger. After failures it takes less at a time, down to an
// eighth of what the summarizer says it can read: it may know its own limit wrong, and windows that
// only grow would fail for ever.
func (s *CompactionSessionService) invocations(st *sessionState, history selector.Input, params selector.Params, branch string) selector.Selection {
	smaller := params
	smaller.MaxTokens >>= min(st.failuresInARow(), 3)
	if n := s.policy.oldestEvents(); n < len(history.Events) {
		part := history
		part.Events = history.Events[:n]
		if sel := selector.Invocations(part, smaller, branch); !sel.Empty() {
			sel.Cut = true
			return sel
		}
	}
	sel := selector.Invocations(history, smaller, branch)
	if sel.Reason == selector.TooLarge {
		return selector.Invocations(history, params, branch)
	}
	return sel
}

// oldestEvents is how many of the oldest visible events a window of the invocation trigger is looked for
// among first, so that a window of a history of a million events costs no more than that of a few
// thousand. They hold more than the summarizer can read, if an event takes 8 tokens. What they leave raw
// because it is their newest, or because its answer lies beyond them, is taken with what follows.
func (p *policy) oldestEvents() int { return max(4096, p.windowTokens/8) }

// excess is how many tokens a compaction that is forced must free at least, 0 if it is not forced. It aims
// at the threshold: one that stopped just below the hard limit would be due again with the next event.
func (s *CompactionSessionService) excess(h *handle, t task, prompt int) int {
	if !t.forced {
		return 0
	}
	target := s.limits(h.state).limit
	if s.limits(h.state).threshold > 0 {
		target = s.limits(h.state).threshold
	}
	return max(1, prompt-target+s.limits(h.state).summaryTokens)
}

// largest selects for the token trigger among the branches that the reader sees. Where so many tokens must
// be freed, it lets go of retained events, half of them at a time, until the window holds as many, and at
// last takes what no summarizer could read in one call.
func (s *CompactionSessionService) largest(history selector.Input, params selector.Params, here []string, reader string, excess int) found {
	for {
		best, spare := selector.Selection{Reason: selector.NothingEligible}, 0
		for _, branch := range here {
			if !selector.Visible(reader, branch) {
				continue
			}
			sel := selector.Tokens(history, params, branch)
			spare += sel.Tokens
			if sel.Tokens > best.Tokens || best.Empty() && best.Reason == selector.NothingEligible {
				best = sel
			}
		}
		enough := !best.Empty() && (best.Tokens >= excess || best.Cut)
		switch {
		case enough || excess == 0:
			return found{Selection: best, unbounded: params.MaxTokens == 0, spare: spare}
		case params.Retain > 0:
			params.Retain /= 2
		case best.Reason == selector.TooLarge && params.MaxTokens != 0:
			params.MaxTokens = 0
		default:
			return found{Selection: best, unbounded: params.MaxTokens == 0, spare: spare}
		}
	}
}

// isDue reports whether look would find a window and an attempt may be made now. A caller's Pin
// function that panics makes nothing due.
func (s *CompactionSessionService) isDue(h *handle) bool {
	if !s.policy.automatic() || h.state.backsOff(time.Now()) {
		return false
	}
	f, err := s.prospect(h)
	return err == nil && !f.Empty()
}

// prospect is look for those who only ask: a panic becomes an error.
func (s *CompactionSessionService) prospect(h *handle) (f found, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return s.look(h, task{}), nil
}

// history is what a selection is made from.
func (h *handle) history(state *view.State) selector.Input {
	events := make([]*session.Event, 0, len(state.View))
	for _, ev := range state.View {
		if state.IsStored(ev) {
			events = append(events, ev)
		}
	}
	return selector.Input{Events: events, Covered: state.Covered, Current: state.Live}
}

func (s *CompactionSessionService) params(st *sessionState) selector.Params {
	return selector.Params{
		Threshold: s.policy.InvocationThreshold,
		Overlap:   s.policy.OverlapSize,
		Retain:    s.policy.RetainEvents,
		MaxTokens: s.policy.windowTokens,
		Cost:      summarizer.Cost,
		Size:      promptsize.OfEvent,
		MinTokens: st.minTokens,
		Running:   st.isRunning,
		Pin:       func(ev *session.Event) bool { return st.isParked(ev) || s.policy.Pin != nil && s.policy.Pin(ev) },
	}
}

// now is the time through ADK's seam, so that tests and replays can set it.
func now(ctx context.Context) time.Time { return platform.Now(ctx) }
