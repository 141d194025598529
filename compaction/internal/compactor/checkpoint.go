package compactor

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

// mayAnswer notes an appended event, and reports whether a checkpoint may be due now that the model has
// asked for. That can be at the end of a turn, and at the beginning of the next if the process ended
// before.
func (e *Engine) mayAnswer(h *sessions.Handle, ev *session.Event, class adk.Class) bool {
	if e.cfg.CheckpointTool == "" {
		return false
	}
	if h.Marks.Looked() {
		h.Marks.Note(selector.Asks(ev, e.cfg.CheckpointTool))
	} else {
		e.noteAsked(h)
	}
	return h.Marks.Wait() && (class.Is(adk.EndsTurn) || class.Is(adk.ByUser|adk.Message) && !class.Is(adk.Responds))
}

// noteAsked notes whether any visible event may ask for a checkpoint.
func (e *Engine) noteAsked(h *sessions.Handle) {
	h.CatchUp()
	h.Marks.Note(slices.ContainsFunc(h.View.Events().Slice(), func(ev *session.Event) bool { return selector.Asks(ev, e.cfg.CheckpointTool) }))
}

// AfterGet starts a background job if the session was left with a call that waits for its checkpoint:
// the process that the call was made in has ended. A service that works synchronously does it with the
// next append.
func (e *Engine) AfterGet(ctx context.Context, h *sessions.Handle) {
	j := writer.Job{}
	defer e.survive(ctx, h.State, j)
	if e.cfg.CheckpointTool == "" || e.cfg.Synchronous {
		return
	}
	if e.noteAsked(h); !h.Marks.Wait() || h.State.Line.Busy() || h.State.Learned.Attempts.BacksOff(time.Now()) {
		return
	}
	if c, err := e.prospect(h); err == nil && c.trigger == record.TriggerCheckpoint {
		e.background(ctx, h, j)
	}
}

// checkpoints finds the checkpoints that the model has asked for. After failures it takes less at a
// time, as the invocation trigger does.
func (c *compactor) checkpoints(input selector.Input, params selector.Params) []*selector.Asked {
	cfg := &c.engine.cfg
	if cfg.CheckpointTool == "" {
		return nil
	}
	params.MaxTokens >>= min(c.h.State.Learned.Attempts.Status().Failures, 3)
	return checkpointsIn(input, params, cfg.CheckpointTool, cfg.CheckpointTokens)
}

// checkpointsIn finds the checkpoints that calls of a tool ask for, one for each branch with such a
// call.
func checkpointsIn(input selector.Input, params selector.Params, tool string, minTokens int) (out []*selector.Asked) {
	seen := map[string]bool{}
	for _, ev := range input.Events {
		if !selector.Asks(ev, tool) || seen[adk.Lane(ev)] {
			continue
		}
		seen[adk.Lane(ev)] = true
		if asked := selector.Checkpoint(input, params, adk.Lane(ev), tool, minTokens); asked != nil {
			out = append(out, asked)
		}
	}
	return out
}

// pinCalls keeps the calls raw that wait for their checkpoint: a summary of another kind would take the
// request away with them.
func pinCalls(asked []*selector.Asked, pin func(*session.Event) bool) func(*session.Event) bool {
	waiting := map[*session.Event]bool{}
	for _, one := range asked {
		if one.Waits || !one.Empty() {
			for _, ev := range one.Calls {
				waiting[ev] = true
			}
		}
	}
	if len(waiting) == 0 {
		return pin
	}
	return func(ev *session.Event) bool { return waiting[ev] || pin != nil && pin(ev) }
}

// waitsForCheckpoint reports whether a call waits for a checkpoint that may still be written.
func (s *snapshot) waitsForCheckpoint() bool {
	return slices.ContainsFunc(s.asked, func(one *selector.Asked) bool { return one.Waits || !one.Empty() })
}

// checkpointOf is the window of a checkpoint that the model asked for. What the summarizer cannot read
// together with the rest is summarized first, so that there is one checkpoint.
func checkpointOf(asked *selector.Asked) candidate {
	c := candidate{Relief: selector.Relief{Selection: asked.Selection}, trigger: record.TriggerCheckpoint, missing: -1}
	if !asked.Part {
		c.kind, c.note = record.KindCheckpoint, noteOf(asked.Details)
	}
	return c
}

// The length of notes, in characters: a model may write a report where a line was asked for.
const (
	maxDetail = 1000
	maxNote   = 4000
)

// noteOf joins what calls say was finished.
func noteOf(details []string) string {
	short := make([]string, len(details))
	for i, detail := range details {
		short[i] = firstRunes(writer.CleanText(detail), maxDetail)
	}
	return firstRunes(strings.Join(short, "; "), maxNote)
}

// firstRunes returns a text of at most n characters. If the text was longer, the last one is an ellipsis.
func firstRunes(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// WaitingCheckpoints counts the calls that may still lead to a checkpoint. If the caller's Pin function
// panics, it counts none.
func (e *Engine) WaitingCheckpoints(h *sessions.Handle) (waiting int) {
	if e.cfg.CheckpointTool == "" {
		return 0
	}
	defer e.reporter.Places.Survive("compaction: the calls that wait for a checkpoint")
	now := (&compactor{engine: e, h: h}).snapshot()
	for _, asked := range now.asked {
		if asked.Waits || !asked.Empty() {
			waiting += len(asked.Calls)
		}
	}
	return waiting
}

// TaskDone is what a call of the checkpoint tool leads to.
type TaskDone struct {
	// Known is false if no stored event has the call.
	Known bool
	// Repeats means that an earlier call of the same turn asks for the checkpoint already.
	Repeats bool
	// Now is how many tokens a checkpoint would replace at the end of the turn, and Later how many
	// together with the turn itself.
	Now, Later int
}

// TaskDone finds out what a call of the checkpoint tool leads to, while its tool runs.
func (e *Engine) TaskDone(h *sessions.Handle, invocationID, callID string) (done TaskDone) {
	h.CatchUp()
	state := h.View.State()
	var own *session.Event
	for _, ev := range slices.Backward(state.View) { // providers reuse IDs: the latest call has it
		if ev.InvocationID == invocationID && selector.Asks(ev, e.cfg.CheckpointTool) && slices.Contains(adk.CallIDs(ev), callID) {
			own = ev
			break
		}
	}
	if own == nil {
		return done
	}
	done.Known = true
	before := true
	for _, ev := range state.View {
		before = before && ev != own
		if before && ev.InvocationID == invocationID && adk.Lane(ev) == adk.Lane(own) && selector.Asks(ev, e.cfg.CheckpointTool) && !refused(state.View, ev) {
			done.Repeats = true
		}
		if adk.Lane(ev) != adk.Lane(own) || !state.IsStored(ev) || state.Covered(ev) {
			continue
		}
		size := promptsize.OfEvent(state.Shown(ev))
		done.Later += size
		if ev.InvocationID != invocationID {
			done.Now += size
		}
	}
	for _, call := range adk.FunctionCalls(own) {
		if call.ID == callID {
			break
		}
		done.Repeats = done.Repeats || call.Name == e.cfg.CheckpointTool
	}
	return done
}

// refused reports whether every response to the calls of an event is an error.
func refused(events []*session.Event, calls *session.Event) bool {
	answered := false
	for _, ev := range events {
		if ev.InvocationID != calls.InvocationID || adk.Lane(ev) != adk.Lane(calls) {
			continue
		}
		for _, response := range adk.FunctionResponses(ev) {
			if slices.Contains(adk.CallIDs(calls), response.ID) {
				if response.Response["error"] == nil {
					return false
				}
				answered = true
			}
		}
	}
	return answered
}
