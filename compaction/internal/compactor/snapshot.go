package compactor

import (
	"math"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// snapshot is everything that the next step of a job depends on: one moment of a session.
type snapshot struct {
	job writer.Job

	// state is the view, and input the part of it that windows are selected from.
	state    *view.State
	input    selector.Input
	params   selector.Params
	branches []string // of the view, the root's first
	// at gives the position at which a summary has to stay.
	at func(*record.Metadata) selector.Position
	// measure returns the size of the prompt of an agent in a branch, and whether that size sets
	// off the token trigger.
	measure func(reader string) (size meter.Prompt, due bool)

	limits       *meter.Limits
	maxSummaries int
	// asked are the checkpoints that the model has asked for, of the root's branch first.
	asked []*selector.Asked
	// failures counts failed attempts in a row, and oldest bounds how many events the invocation
	// trigger looks at first.
	failures, oldest int

	// chosen is a window that was chosen earlier, nil for none: room is being made for its summary.
	// worthless says that not even the extractive summarizer made it shorter.
	chosen    *candidate
	worthless bool
	// ahead says that it follows from a snapshot and a step, without a look at the session: it is good enough for the
	// invocation trigger, and for no size of a prompt.
	ahead bool
	// paying is what the economical trigger began with, while the rest of it is still to be summarized; nil for none.
	paying *candidate
}

// snapshot is the session as it is now, for the next step.
func (c *compactor) snapshot() snapshot {
	c.h.CatchUp()
	state, known, cfg := c.h.View.State(), c.h.State, &c.engine.cfg
	c.state = state
	input := inputOf(state)
	params := selector.Params{
		Threshold: cfg.Threshold, Overlap: cfg.Overlap, Retain: cfg.Retain, RetainTokens: known.Prompts.Limits().RetainTokens, MaxTokens: c.windowTokens(),
		Cost:      func(ev *session.Event) int { return summarizer.Cost(state.Shown(ev)) },
		Size:      func(ev *session.Event) int { return promptsize.OfEvent(state.Shown(ev)) },
		Running:   known.Running,
		MinTokens: func(window string) int { return max(known.Learned.Windows.Least(window), leastWindow()) },
		Pin: func(ev *session.Event) bool {
			return known.Learned.Events.Unreferencable(ev) || cfg.Pin != nil && cfg.Pin(ev)
		},
	}
	asked := c.checkpoints(input, params)
	if c.job.Kind != record.KindCheckpoint || !c.job.ByHand {
		params.Pin = pinCalls(asked, params.Pin)
	}
	params.Shared = &selector.Shared{}
	return snapshot{
		job: c.job, asked: asked, chosen: c.chosen, worthless: c.worthless, paying: c.paying,
		state: state, input: input, params: params, branches: meter.BranchesOf(state.View),
		at: selector.Positions(input, params),
		measure: func(reader string) (meter.Prompt, bool) {
			size := c.h.Meter.Prompt(reader)
			return size, known.Prompts.IsDue(reader, size)
		},
		limits: known.Prompts.Limits(), maxSummaries: cfg.MaxSummaries,
		failures: known.Learned.Attempts.Status().Failures, oldest: oldestEvents(params.MaxTokens),
	}
}

// after is the session once a step of the invocation trigger has stored a record; nil if that takes a new snapshot. A
// snapshot and a view cost as much as there are visible events, and a history that grew before compaction was turned on
// takes many windows.
func (s *snapshot) after(done *step, m *record.Metadata) *snapshot {
	if done.candidate.trigger != record.TriggerInvocations || len(s.asked) > 0 || s.failures > 0 ||
		slices.ContainsFunc(s.state.Current, (*record.Metadata).MidTurn) || m.MidTurn() {
		return nil
	}
	next := *s
	next.ahead, next.chosen = true, nil
	next.state = s.state.With(m)
	next.input.Current = next.state.Current
	next.input.Events = without(s.input.Events, done.window.Events)
	next.params.Shared = &selector.Shared{} // or a long history would keep an analysis for each of its records
	next.at = selector.Positions(next.input, next.params)
	return &next
}

// without returns the events that are not gone. These are among the oldest, in order.
func without(events, gone []*session.Event) []*session.Event {
	var kept []*session.Event
	for i, ev := range events {
		switch {
		case len(gone) == 0:
			return append(kept, events[i:]...)
		case ev == gone[0]:
			gone = gone[1:]
		default:
			kept = append(kept, ev)
		}
	}
	return kept
}

// windowTokens bounds a window. What no model reads may be as long as the history: a turn waits for it, and each
// record costs as much as the view has events.
func (c *compactor) windowTokens() int {
	if c.job.Extractive && c.job.Forced {
		return math.MaxInt
	}
	return c.engine.cfg.WindowTokens
}

// oldestEvents is how many of the oldest visible events the invocation trigger looks at first, so
// that a window of a history of a million events costs no more than that of a few thousand. They
// hold more than the summarizer can read, if an event takes 8 tokens. What they leave raw because
// it is their newest, or because its answer lies beyond them, is taken with what follows.
func oldestEvents(windowTokens int) int { return max(4096, windowTokens/8) }

// leastWindow is what a window must have for a summary of it to be any shorter: the frame of a
// summary alone takes up as much as a few short messages.
func leastWindow() int { return promptsize.Frame(record.KindSummary, false) + meter.MinSummary }

// inputOf is the part of a view that selections are made from: what is stored.
func inputOf(state *view.State) selector.Input {
	stored := slices.DeleteFunc(slices.Clone(state.View), func(ev *session.Event) bool { return !state.IsStored(ev) })
	return selector.Input{Events: stored, Covered: state.Covered, Current: state.Current}
}

// summariesOf returns the branch's current records in the order of the view.
func (s *snapshot) summariesOf(branch string) []*record.Metadata { return currentOf(s.state, branch) }

func currentOf(state *view.State, branch string) []*record.Metadata {
	return slices.DeleteFunc(slices.Clone(state.Current), func(m *record.Metadata) bool { return m.Branch != record.Normalize(branch) })
}
