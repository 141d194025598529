package compactor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/storage"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
)

// summarizeWindow carries out a step that writes a summary: it has the summary written, and stores
// it. It returns the draft too, nil if there is none.
func (c *compactor) summarizeWindow(ctx context.Context, st step) (writer.Result, *writer.Draft) {
	j := c.job
	if st.action != summarize {
		j.Trigger, j.Kind, j.Focus, j.Note, j.Pack = record.TriggerMerge, "", "", "", ""
	}
	ctx, a := c.engine.reporter.Begin(ctx, c.h.State, j, st.window)
	result := a.Guard(ctx, func() writer.Result {
		d, result := c.writeDraft(ctx, j, st, a)
		if d == nil {
			return result
		}
		return c.engine.storage.StoreDraft(ctx, c.h, j, a, d)
	})
	if result != writer.Written {
		return result, nil
	}
	c.h.State.Learned.Windows.WorthTrying(st.window.Key())
	return result, a.Draft
}

// writeDraft has a summary written, and puts it in the line of drafts that are not stored yet. The
// draft is nil if there is none; then the attempt is concluded.
func (c *compactor) writeDraft(ctx context.Context, j writer.Job, st step, a *telemetry.Attempt) (*writer.Draft, writer.Result) {
	window, facts, began := &st.window, &c.h.State.Learned, time.Now()
	d, answer, err := writer.Write(ctx, c.engine.cfg.Summarizer, c.assignment(j, st), &facts.Attempts)
	a.Duration = time.Since(began)
	a.Spent(answer)
	if err != nil && (ctx.Err() != nil || errors.Is(err, writer.ErrHanging) && !j.Forced && !j.ByHand) {
		// The caller is gone, or an earlier call has not returned. The summarizer has not failed.
		return nil, a.Decline(ctx, err.Error())
	}
	if err != nil {
		return nil, a.Fail(ctx, err)
	}
	a.Summarized(d)
	if d.Meta.CompactedTokens >= window.Tokens {
		facts.Windows.NotShorter(window.Key(), window.Tokens)
		return nil, a.Decline(ctx, fmt.Sprintf("summary is not shorter: %d tokens for %d", d.Meta.CompactedTokens, window.Tokens))
	}
	if !c.h.State.Waiting.Add(d) {
		return nil, a.Discard(ctx, storage.Deleted)
	}
	c.h.Meter.Learn(window.Branch)
	return d, writer.Written
}

func (c *compactor) assignment(j writer.Job, st step) writer.Assignment {
	return writer.Assignment{
		Job: j, Window: st.window, Rewrites: st.action != summarize, Shorter: st.shorter, Room: c.roomFor(st),
		SummaryTokens: c.h.State.Prompts.Limits().SummaryTokens, Timeout: c.engine.cfg.Timeout,
	}
}

// roomFor is how many tokens the summary of a step may have, given the branch's other summaries.
func (c *compactor) roomFor(st step) int {
	c.h.CatchUp()
	limits := c.h.State.Prompts.Limits()
	room := limits.AllSummaries
	for _, m := range currentOf(c.h.View.State(), st.window.Branch) {
		if !slices.ContainsFunc(st.window.Absorb, func(a *record.Metadata) bool { return a.RecordID == m.RecordID }) {
			room -= promptsize.OfSummary(m)
		}
	}
	return max(room, limits.SummaryTokens)
}
