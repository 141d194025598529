package compaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// failure marks an error as one of the bookkeeping.
func failure(cause error) error {
	if errors.Is(cause, ErrCompaction) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrCompaction, cause)
}

// summarize has the window's summary written and makes a draft of it. The result says what that took,
// even where it led to nothing.
func (s *CompactionSessionService) summarize(ctx context.Context, h *handle, t task, sel selector.Selection) (*draft, summarizer.Result, error) {
	req, err := s.request(h, t, sel)
	if err != nil {
		return nil, summarizer.Result{}, err
	}
	asked := readOnly(req, sel.Events)
	result, text, err := s.ask(ctx, h.state, t, req)
	if err != nil {
		return nil, result, err
	}
	size, most := promptsize.OfProse(req.Kind, sel.After != nil, text), s.roomFor(h, sel)
	if size < sel.Tokens { // else it is declined, whatever it says
		if err := summarizer.Check(asked, text); err != nil {
			return nil, result, err
		}
	}
	switch {
	case t.trigger == record.TriggerMerge:
		most = min(most, sel.Tokens) // a merge may be as long as its parts, and no longer
	case size >= sel.Tokens:
		most = size // not shorter: it is declined, not cut
	}
	if size > most {
		if text, err = cut(ctx, text, most-promptsize.Frame(req.Kind, sel.After != nil)); err != nil {
			return nil, result, err
		}
	}
	d, err := newDraft(ctx, t, sel, text, result)
	return d, result, err
}

// roomFor is what the summary of a window may take up beside the branch's others.
func (s *CompactionSessionService) roomFor(h *handle, sel selector.Selection) int {
	room := h.state.prompts.Limits().AllSummaries
	h.catchUp()
	for _, m := range currentOf(h.view.State(), sel.Branch) {
		if !slices.ContainsFunc(sel.Absorb, func(a *record.Metadata) bool { return a.RecordID == m.RecordID }) {
			room -= promptsize.OfSummary(m)
		}
	}
	return max(room, h.state.prompts.Limits().SummaryTokens)
}

// request is what the summarizer is given: copies of the window, and the prose it has to stand in for.
func (s *CompactionSessionService) request(h *handle, t task, sel selector.Selection) (summarizer.Request, error) {
	frame := promptsize.Frame(record.KindSummary, sel.After != nil)
	req := summarizer.Request{
		Kind:      record.KindSummary,
		Focus:     t.focus,
		Note:      t.note,
		Pack:      t.pack,
		MaxTokens: min(h.state.prompts.Limits().SummaryTokens, max(meter.MinSummary, (sel.Tokens-frame)/2)),
	}
	if t.kind != "" {
		req.Kind = t.kind
	}
	if t.trigger == record.TriggerMerge {
		req.MaxTokens = min(h.state.prompts.Limits().SummaryTokens, max(meter.MinSummary, sel.Tokens-frame))
	}
	if t.shorter > 0 {
		req.MaxTokens = min(req.MaxTokens, t.shorter)
	}
	for _, ev := range sel.Events {
		req.Events = append(req.Events, copyEvent(ev))
	}
	for _, m := range sel.Absorb {
		text, err := m.Text()
		if err != nil {
			return req, err
		}
		req.Summaries = append(req.Summaries, text)
	}
	return req, nil
}

// readOnly returns the same request over the stored events. A summarizer may change the copies that
// it is given; its answer is judged by what they were.
func readOnly(req summarizer.Request, events []*session.Event) summarizer.Request {
	req.Summaries = slices.Clone(req.Summaries)
	req.Events = make([]*session.Event, len(events))
	for i, ev := range events {
		req.Events[i] = readable(ev)
	}
	return req
}

// copyEvent copies what a summarizer may read of an event, so that nothing it does reaches the stored
// event.
func copyEvent(ev *session.Event) *session.Event { return adk.DeepCopy(readable(ev)) }

// readable returns what a summarizer may read of an event, field by field. It shares the event's
// values.
func readable(ev *session.Event) *session.Event {
	return &session.Event{
		ID:           ev.ID,
		Timestamp:    ev.Timestamp,
		InvocationID: ev.InvocationID,
		Branch:       ev.Branch,
		Author:       ev.Author,
		LLMResponse: model.LLMResponse{
			Content:             ev.Content,
			InputTranscription:  ev.InputTranscription,
			OutputTranscription: ev.OutputTranscription,
			ErrorCode:           ev.ErrorCode,
			ErrorMessage:        ev.ErrorMessage,
		},
		Actions:            session.EventActions{StateDelta: ev.Actions.StateDelta},
		LongRunningToolIDs: ev.LongRunningToolIDs,
	}
}

// extractiveTime is what the extractive summarizer is given at least, on however busy a machine. It
// takes milliseconds.
const extractiveTime = 10 * time.Second

// ask calls the summarizer, within the time-out, and returns its usable prose. The call runs in a
// goroutine of its own, so that one that panics or ignores its context harms nobody; while such a
// call has not returned, no other is made for the session. The result of a call that failed counts for
// its usage only.
func (s *CompactionSessionService) ask(ctx context.Context, st *sessionState, t task, req summarizer.Request) (summarizer.Result, string, error) {
	writer := s.writer(t)
	if !t.extractive && st.learned.Attempts.Hanging() {
		return summarizer.Result{}, "", errHanging
	}
	deadline := t.deadline
	switch {
	case t.extractive: // local, and the last resort: a time-out meant for a model must not end it
		deadline = time.Now().Add(max(s.policy.Timeout, extractiveTime))
	case deadline.IsZero():
		deadline = time.Now().Add(s.policy.Timeout)
	}
	parent := ctx
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return summarizer.Result{}, "", err
	}

	type answer struct {
		result summarizer.Result
		err    error
	}
	answers := make(chan answer, 1)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if cause := recover(); cause != nil {
				answers <- answer{err: fmt.Errorf("summarizer %w: %v", errPanicked, cause)}
			}
		}()
		result, err := writer.Summarize(ctx, req)
		answers <- answer{result, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			return a.result, "", a.err
		}
		text, err := usable(a.result.Content)
		return a.result, text, err
	case <-ctx.Done():
		st.learned.Attempts.GaveUp(returned)
		if err := parent.Err(); err != nil {
			return summarizer.Result{}, "", fmt.Errorf("gave the summarizer up: %w", err)
		}
		return summarizer.Result{}, "", fmt.Errorf("summarizer did not answer within %v: %w", s.policy.Timeout, ctx.Err())
	}
}

// usable returns the prose of an answer. One that calls a tool is not finished: the text beside the
// call is what was said before the work, not the summary.
func usable(content *genai.Content) (string, error) {
	if len(adk.FunctionCalls(&session.Event{LLMResponse: model.LLMResponse{Content: content}})) > 0 {
		return "", fmt.Errorf("%w: it calls a function", summarizer.ErrUnusable)
	}
	return summarizer.Prose(content)
}

// cut shortens prose to what fits.
func cut(ctx context.Context, text string, maxTokens int) (string, error) {
	result, err := summarizer.Extractive{}.Summarize(ctx, summarizer.Request{Summaries: []string{text}, MaxTokens: maxTokens})
	if err != nil {
		return "", err
	}
	return summarizer.Prose(result.Content)
}
