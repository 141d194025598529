package compactor

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

// Prospect reports whether the next event of a session would start a compaction, and by which
// trigger. If not, reason is what the compaction waits for.
func (e *Engine) Prospect(ctx context.Context, h *sessions.Handle) (due bool, trigger record.Trigger, reason string) {
	e.followModel(ctx, h.State)
	h.CatchUp()
	view := h.View.State().View
	c, err := e.prospect(h)
	return e.verdict(h, c, err, view)
}

// verdict is what [Engine.Prospect] says of a candidate.
func (e *Engine) verdict(h *sessions.Handle, c candidate, err error, view []*session.Event) (due bool, trigger record.Trigger, reason string) {
	switch {
	case err != nil:
		return false, "", err.Error()
	case !e.cfg.automatic() && c.trigger != record.TriggerCheckpoint:
		return false, "", "automatic triggers are off"
	}
	if reason := e.waitsFor(h, c, view); reason != "" {
		return false, "", reason
	}
	return true, c.trigger, ""
}

// isDue reports whether a job would find a window and may start now. If the caller's Pin function
// panics, nothing is due.
func (e *Engine) isDue(h *sessions.Handle) bool {
	if e.cfg.idle() || h.State.Learned.Attempts.BacksOff(time.Now()) {
		return false
	}
	c, err := e.prospect(h)
	return err == nil && !c.Empty()
}

// prospect finds what is due, and turns a panic into an error.
func (e *Engine) prospect(h *sessions.Handle) (c candidate, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	looked := h.Turns.Checking()
	now := (&compactor{engine: e, h: h}).snapshot()
	c = now.findDue()
	if c.missing >= 0 {
		looked(c.missing)
	}
	return c, nil
}

// waitsFor names what a compaction waits for, "" for the next event.
func (e *Engine) waitsFor(h *sessions.Handle, c candidate, view []*session.Event) string {
	if c.Empty() {
		if reason := waitsForGrowth(h); c.Reason == selector.NotDue && reason != "" {
			return reason
		}
		return string(c.Reason)
	}
	var last *session.Event
	if len(view) > 0 {
		last = view[len(view)-1]
	}
	facts := &h.State.Learned
	attempts := facts.Attempts.Status()
	byTokens := c.trigger == record.TriggerTokens
	switch {
	case byTokens && c.prompt.AtMost >= h.State.Prompts.Limits().HardLimit:
		return "" // it starts in any case, without a model if need be
	case time.Now().Before(attempts.RetryAt):
		return fmt.Sprintf("%d attempts in a row failed: the next one waits until %s", attempts.Failures, attempts.RetryAt.Format(time.RFC3339))
	case facts.Attempts.Hanging():
		return writer.ErrHanging.Error()
	case e.cfg.Synchronous && last != nil && facts.Attempts.TriedInline(last.InvocationID):
		return "an attempt failed in this turn: the next one waits for the next turn"
	case byTokens && h.State.Prompts.IsQuiet(c.reader, c.prompt):
		return fmt.Sprintf("there was nothing to summarize: the next look waits until the prompt of %d tokens has %d", c.prompt.Likely, facts.Windows.QuietUntil(c.reader))
	case c.trigger == record.TriggerInvocations && last != nil && !adk.Classify(last).Is(adk.EndsTurn):
		return "due by turns: waits for the end of the turn that is under way"
	}
	return ""
}

// waitsForGrowth describes a prompt that is over the threshold and under the floor that the last
// compaction left, "" if there is none.
func waitsForGrowth(h *sessions.Handle) string {
	threshold := h.State.Prompts.Limits().Threshold
	for _, branch := range h.Meter.Branches() {
		size, floor := h.Meter.Prompt(branch).Likely, h.State.Learned.Windows.Floor(branch)
		if threshold > 0 && size >= threshold && size < floor {
			return fmt.Sprintf("the last compaction could not bring the prompt under the threshold of %d tokens: the next one waits until it has grown from %d to %d",
				threshold, size, floor)
		}
	}
	return ""
}
