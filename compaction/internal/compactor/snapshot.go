package compactor

import (
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
	asked    []*selector.Asked
	failures int // attempts in a row

	// chosen is a window that was chosen earlier, nil for none: room is being made for its summary.
	// worthless says that not even the extractive summarizer made it shorter.
	chosen    *candidate
	worthless bool
	// ahead says that it follows from a snapshot and a step, without a look at the session. Then follows is all that is
	// known to be due; empty if only a new snapshot can tell.
	ahead   bool
	follows candidate
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
		Threshold: cfg.Threshold, Overlap: cfg.Overlap, Retain: cfg.Retain, RetainTokens: known.Prompts.Limits().RetainTokens, MaxTokens: cfg.WindowTokens,
		Cost:      func(ev *session.Event) int { return summarizer.Cost(state.Shown(ev)) },
		Size:      func(ev *session.Event) int { return promptsize.OfEvent(state.Shown(ev)) },
		Running:   known.Running,
		MinTokens: func(window string) int { return max(known.Learned.Windows.Least(window), leastWindow()) },
		Pin: func(ev *session.Event) bool {
			return known.Learned.Events.Unreferencable(ev) || cfg.Pin != nil && cfg.Pin(ev)
		},
	}
	if c.job.Extractive && c.job.Forced {
		params.MaxTokens, params.Cost = unread>>min(known.Learned.Attempts.Status().Failures, 6), params.Size
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
		failures: known.Learned.Attempts.Status().Failures,
	}
}

// after is the session once a step has stored a record; nil if that takes a new snapshot. A snapshot and a view cost as
// much as there are visible events, and a history that grew before compaction was turned on takes many windows. It takes
// one, too, where the step is the first that asks no model: the steps behind it ask none either, and have other windows.
func (s *snapshot) after(done *step, m *record.Metadata) *snapshot {
	if done.otherwise != nil || done.extractive != s.job.Extractive || len(s.asked) > 0 || s.failures > 0 || m.MidTurn() || slices.ContainsFunc(s.state.Current, (*record.Metadata).MidTurn) {
		return nil
	}
	next := *s
	next.ahead, next.chosen, next.state = true, nil, s.state.With(m)
	c := done.candidate
	c.prompt = c.prompt.Shorter(done.window.Tokens - promptsize.OfSummary(m))
	if done.makesRoom {
		next.chosen = &c
	} else {
		next.follows = s.behind(c)
	}
	return &next
}

// unread is how large a window may be, in tokens, that no model reads. A turn waits for it, and few summaries are soonest
// written. But it must be read in time on however busy a machine: a window of all that a long history has left would fail
// in every turn. After each failure, as that of the model, it is half as large.
const unread = 1 << 20

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
