// Package writer has summaries written. A [Job] says what for. [Write] asks a summarizer that may
// fail, panic, hang or answer nonsense, and returns a [Draft] whose prose is fit to replace what it
// was asked to summarize, or an error.
package writer

import (
	"cmp"
	"context"
	"slices"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Summarizer is compaction.Summarizer.
type Summarizer interface {
	Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error)
}

// Assignment is one summary to be written for a job. The call ends at the job's Deadline or, if that
// is zero, after Timeout.
type Assignment struct {
	Job
	Window selector.Selection
	// Rewrites means that the summary replaces other summaries and no events. It may be as long as
	// these, and no longer.
	Rewrites bool
	// SummaryTokens is how long summaries are asked to be at most, and Shorter, if not 0, how long
	// this one may be.
	SummaryTokens, Shorter int
	// Room is what the summary may take up next to the branch's others. A longer one is cut.
	Room    int
	Timeout time.Duration
}

// Write asks the summarizer for a summary, and makes a draft of it. The result says what its calls
// used, even where there is an error. A summary that is not shorter than the window is returned as
// it is: the caller declines it.
func Write(ctx context.Context, by Summarizer, a Assignment, attempts *learned.Attempts) (d *Draft, result summarizer.Result, err error) {
	asked, err := a.request()
	if err != nil {
		return nil, result, err
	}
	given := asked // a summarizer may change what it is given; its answer is judged by what that was
	given.Summaries, given.Events = slices.Clone(asked.Summaries), make([]*session.Event, len(asked.Events))
	for i, ev := range asked.Events {
		given.Events[i] = adk.DeepCopy(ev)
	}
	if a.Extractive {
		by = summarizer.Extractive{}
	}
	result, text, err := ask(ctx, by, given, a, attempts)
	if err != nil {
		return nil, result, err
	}
	midTurn, most := a.Window.After != nil, a.Room
	size := promptsize.OfProse(asked.Kind, midTurn, text)
	if size < a.Window.Tokens { // otherwise it is declined, whatever its content
		if err := summarizer.Check(asked, text); err != nil {
			return nil, result, err
		}
	}
	switch {
	case a.Rewrites:
		most = min(most, a.Window.Tokens)
	case size >= a.Window.Tokens:
		most = size // it is declined, not cut
	}
	if size > most {
		if text, err = cut(ctx, text, most-promptsize.Frame(asked.Kind, midTurn)); err != nil {
			return nil, result, err
		}
	}
	d, err = newDraft(ctx, a, text, result)
	return d, result, err
}

// request is what the summarizer is asked: the events of the window, and the prose of the summaries
// it replaces.
func (a *Assignment) request() (summarizer.Request, error) {
	length := a.Window.Tokens - promptsize.Frame(record.KindSummary, a.Window.After != nil)
	if !a.Rewrites {
		length /= 2
	}
	req := summarizer.Request{
		Kind: cmp.Or(a.Kind, record.KindSummary), Focus: a.Focus, Note: a.Note, Pack: a.Pack,
		MaxTokens: min(a.SummaryTokens, max(meter.MinSummary, length)),
	}
	if a.Shorter > 0 {
		req.MaxTokens = min(req.MaxTokens, a.Shorter)
	}
	for _, ev := range a.Window.Events {
		req.Events = append(req.Events, readable(ev))
	}
	for _, m := range a.Window.Absorb {
		text, err := m.Text()
		if err != nil {
			return req, err
		}
		req.Summaries = append(req.Summaries, text)
	}
	return req, nil
}

// readable returns what a summarizer may read of an event, field by field. It shares the event's
// values.
func readable(ev *session.Event) *session.Event {
	return &session.Event{
		ID: ev.ID, Timestamp: ev.Timestamp, InvocationID: ev.InvocationID, Branch: ev.Branch, Author: ev.Author,
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

// cut shortens prose to what fits.
func cut(ctx context.Context, text string, maxTokens int) (string, error) {
	result, err := summarizer.Extractive{}.Summarize(ctx, summarizer.Request{Summaries: []string{text}, MaxTokens: maxTokens})
	if err != nil {
		return "", err
	}
	return summarizer.Prose(result.Content)
}
