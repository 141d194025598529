package compactor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/queue"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
)

// Keep is what a person has asked to leave raw: the newest Events of a branch, whatever invocation
// they belong to, or, if that is 0, its newest Invocations.
type Keep struct{ Events, Invocations int }

// window selects everything else that may be summarized now.
func (k Keep) window(s snapshot, branch string) selector.Selection {
	s.params.MinTokens = func(string) int { return leastWindow() } // a person asked: try again
	s.params.Left = true
	if k.Events > 0 {
		s.params.Retain, s.params.RetainTokens = k.Events, 0
		return selector.Tokens(s.input, s.params, branch)
	}
	return selector.Manual(s.input, s.params, branch, k.Invocations)
}

// Result describes what a compaction by hand did. It has the fields of compaction.CompactResult,
// and converts to it.
type Result struct {
	BeforeTokens, AfterTokens int
	BeforeEvents, AfterEvents int
	TokensSaved               int
	CompressionRatio          float64
	RecordID, Summary         string
	Skipped                   bool
	Reason                    string
	StrategiesRun             []string
}

// The values of StrategiesRun; see package compaction.
const (
	ranSummary = "summarized"
	ranCut     = "truncated"
)

// wrote notes a draft that was stored: the summary of a window, or a merge that makes room for one.
func (r *Result) wrote(d *writer.Draft) {
	r.Skipped, r.Reason = false, ""
	r.RecordID, r.Summary = d.Meta.RecordID, d.Text
	r.ran(ranSummary)
	if d.Truncated {
		r.ran(ranCut)
	}
}

func (r *Result) ran(strategy string) {
	if !slices.Contains(r.StrategiesRun, strategy) {
		r.StrategiesRun = append(r.StrategiesRun, strategy)
	}
}

// ByHand compacts a session because a person asked for it, once the work under way is done.
func (e *Engine) ByHand(ctx context.Context, ref adk.SessionRef, j writer.Job, keep Keep) (result Result, err error) {
	j.ByHand = true
	st := e.sessions.Of(ref)
	err = e.queue.ByHand(ctx, st.Line, func() error {
		result, err = e.compactNow(ctx, st, j, keep)
		return err
	})
	if errors.Is(err, queue.ErrClosed) {
		err = telemetry.Mark(err)
	}
	result.settle()
	return result, err
}

// settle fills in what follows from the sizes before and after.
func (r *Result) settle() {
	r.TokensSaved = r.BeforeTokens - r.AfterTokens
	if r.AfterTokens > 0 {
		r.CompressionRatio = float64(r.BeforeTokens) / float64(r.AfterTokens)
	}
}

// compactNow is ByHand for a caller that holds the session's slot.
func (e *Engine) compactNow(ctx context.Context, st *sessions.State, j writer.Job, keep Keep) (result Result, err error) {
	h, err := e.sessions.Handle(ctx, st.Ref)
	if err != nil {
		return result, err
	}
	defer e.storage.Remember(st)
	defer func() {
		if cause := recover(); cause != nil {
			err = telemetry.Mark(fmt.Errorf("%w: %v", writer.ErrPanicked, cause))
			e.reporter.Fail(ctx, st, j, err)
		}
	}()
	e.reporter.Unreadable(ctx, h)

	result.Skipped = true
	result.BeforeTokens, result.BeforeEvents = extentOf(h)
	if !e.storage.StoreLeftovers(ctx, h, j) {
		result.AfterTokens, result.AfterEvents = result.BeforeTokens, result.BeforeEvents
		return result, cmp.Or(ctx.Err(), st.Learned.Attempts.Status().Err)
	}
	tried := false
	for _, branch := range meter.BranchesOf(h.View.Events().Slice()) {
		c := &compactor{engine: e, h: h, job: j}
		attempted, failed := c.compactBranch(ctx, branch, keep, &result)
		tried = tried || attempted
		if err = failed; err != nil {
			break
		}
	}
	if !tried {
		e.reporter.Decline(ctx, st, j, selector.Selection{}, result.Reason)
	}
	result.AfterTokens, result.AfterEvents = extentOf(h)
	return result, err
}

// compactBranch writes one window of a branch after the other until none is left. It reports
// whether there was any.
func (c *compactor) compactBranch(ctx context.Context, branch string, keep Keep, result *Result) (tried bool, err error) {
	for range maxSteps {
		if c.chosen == nil {
			window := keep.window(c.snapshot(), branch)
			if window.Empty() {
				if result.Skipped && result.Reason == "" {
					result.Reason = string(window.Reason)
				}
				return tried, nil
			}
			tried = true
			c.chosen = &candidate{Relief: selector.Relief{Selection: window}, trigger: c.job.Trigger}
		}
		next := plan(c.snapshot())
		switch got, d := c.summarizeWindow(ctx, next); got {
		case writer.Written:
			result.wrote(d)
			if next.makesRoom {
				continue
			}
			c.chosen = nil
		case writer.Failed:
			return tried, c.h.State.Learned.Attempts.Status().Err
		default:
			if result.Skipped {
				result.Reason = c.h.State.Learned.Attempts.Status().Reason
			}
			return tried, nil
		}
	}
	return tried, nil
}

// extentOf is how much a view holds: tokens, estimated, and events.
func extentOf(h *sessions.Handle) (tokens, events int) {
	h.CatchUp()
	for ev := range h.View.Events().All() {
		tokens += promptsize.OfEvent(ev)
		events++
	}
	return tokens, events
}
