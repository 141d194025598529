// Package writer has summaries written. A [Job] says what for. [Write] asks a summarizer that may
// fail, panic, hang or answer nonsense, and returns a [Draft] whose prose is fit to replace what it
// was asked to summarize, or an error.
package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Summarizer is compaction.Summarizer.
type Summarizer interface {
	Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error)
}

// Assignment is one summary to be written for a job. The call ends at the job's Deadline or, if
// that is zero, after Timeout.
type Assignment struct {
	Job
	Window selector.Selection
	// Shown returns the form in which the view shows an event of the window: the summarizer reads that
	// form, and sizes are those of it. Nil: events are shown as they are stored.
	Shown func(*session.Event) *session.Event
	// Rewrites means that the summary replaces other summaries and no events. It may be as long as
	// these, and no longer.
	Rewrites bool
	// SummaryTokens is how long summaries are asked to be at most, and Shorter, if not 0, how long
	// this one may be.
	SummaryTokens, Shorter int
	// Room is what the summary may take up next to the branch's others. A longer one is cut.
	Room    int
	Timeout time.Duration
	Ledger  Ledger
	// Given is the summary itself, for one that is stored in another form and not written; "" for any other. It has
	// events of no window.
	Given string

	// measures means that a model wrote the summary, so that what it keeps is measured.
	measures bool
	// taken is what was taken from the window, so that a second try takes it no second time; nil while nothing was.
	taken    *taken
	takenErr error
}

// Write asks the summarizer for a summary, and makes a draft of it. The result says what its calls
// used, even where there is an error. A summary that is not shorter than the window is returned as
// it is: the caller declines it. One that a model wrote is checked against its window: what that does
// not bear out is asked for once more, and then cut out.
func Write(ctx context.Context, by Summarizer, a Assignment, attempts *learned.Attempts) (d *Draft, result summarizer.Result, err error) {
	if a.Given != "" {
		return a.given(ctx)
	}
	asked, err := a.request()
	if err != nil {
		return nil, result, err
	}
	if a.Extractive {
		by = summarizer.Extractive{}
	}
	w := &writing{a: &a, by: by, asked: asked, attempts: attempts, ends: a.ends()}
	text, err := w.ask(ctx, "")
	if err != nil {
		return nil, w.result, err
	}
	d, err = w.draft(ctx, text)
	return d, w.result, err
}

// sizeOf is how many tokens a summary takes up in a prompt.
func (a *Assignment) sizeOf(text string) int {
	return promptsize.OfProse(cmp.Or(a.Kind, record.KindSummary), a.Window.After != nil, text)
}

// finish makes the draft of a summary, cut to its room.
func (w *writing) finish(ctx context.Context, text string) (*Draft, error) {
	a, most := w.a, w.a.Room
	size := a.sizeOf(text)
	switch {
	case a.Rewrites:
		most = min(most, a.Window.Tokens)
	case size >= a.Window.Tokens:
		most = size // it is declined, not cut
	}
	truncated := size > most
	if truncated {
		var err error
		if text, err = cut(ctx, text, most-promptsize.Frame(w.asked.Kind, a.Window.After != nil)); err != nil {
			return nil, err
		}
	}
	d, err := newDraft(ctx, *a, text, w.result)
	if err != nil {
		return nil, err
	}
	d.Truncated = truncated
	if a.Rewrites && a.Forced && (a.Extractive || a.Shorter > 0) {
		d.keepUncut(w.asked.Summaries, text, a.Room)
	}
	d.addValues(ctx, a)
	return d, d.check()
}

// given makes a draft of the summary that the assignment gives. Only the values behind it are chosen anew.
func (a *Assignment) given(ctx context.Context) (*Draft, summarizer.Result, error) {
	d, err := newDraft(ctx, *a, a.Given, summarizer.Result{})
	if err != nil {
		return nil, summarizer.Result{}, err
	}
	for _, m := range a.Window.Absorb {
		d.Meta.Model = m.Model
		if text, err := m.Text(); err == nil && text == a.Given {
			d.Meta.Uncut = m.Uncut
		}
	}
	d.carryValues(ctx, a)
	if err := d.check(); err != nil {
		return nil, summarizer.Result{}, err
	}
	return d, summarizer.Result{}, nil
}

// keepUncut keeps what a summary was made of that had to be short, with at most so many tokens.
func (d *Draft) keepUncut(summaries []string, text string, maxTokens int) {
	whole := strings.Join(summaries, "\n")
	if whole != text && promptsize.OfProse(record.KindSummary, false, whole) <= maxTokens {
		d.Meta.Uncut = whole
	}
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
		req.Events = append(req.Events, readable(a.shown(ev)))
	}
	for _, m := range a.Window.Absorb {
		text, err := m.Whole()
		if err != nil {
			return req, err
		}
		req.Summaries = append(req.Summaries, text)
	}
	return req, nil
}

func (a *Assignment) shown(ev *session.Event) *session.Event {
	if a.Shown == nil {
		return ev
	}
	return a.Shown(ev)
}

// readable returns what a summarizer may read of an event, field by field. It shares the event's
// values.
func readable(ev *session.Event) *session.Event {
	out := &session.Event{
		ID: ev.ID, Timestamp: ev.Timestamp, InvocationID: ev.InvocationID, Author: ev.Author,
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
	adk.SetLane(out, adk.Lane(ev))
	return out
}

// cut shortens prose to what fits.
func cut(ctx context.Context, text string, maxTokens int) (string, error) {
	result, err := summarizer.Extractive{}.Summarize(ctx, summarizer.Request{Summaries: []string{text}, MaxTokens: maxTokens})
	if err != nil {
		return "", err
	}
	return summarizer.Prose(result.Content)
}

// The failures of a call that are not the summarizer's own errors.
var (
	ErrPanicked = errors.New("panicked")
	ErrHanging  = errors.New("an earlier summarizer call for this session has not returned yet")
)

// extractiveTime is what the extractive summarizer is given at least, on however busy a machine. It
// takes milliseconds.
const extractiveTime = 10 * time.Second

// ends is when what begins now is given up.
func (a *Assignment) ends() time.Time {
	switch {
	case a.Extractive: // local, and the last resort: a timeout meant for a model must not end it
		return time.Now().Add(max(a.Timeout, extractiveTime))
	case a.Deadline.IsZero():
		return time.Now().Add(a.Timeout)
	default:
		return a.Deadline
	}
}

// answer is what a call of a summarizer has led to.
type answer struct {
	result  summarizer.Result
	wording string // what its model has read beside the record, as far as it tells
	err     error
}

// ask calls the summarizer, until ends, and returns its answer with its usable prose. The call runs in a
// goroutine of its own, so that it harms nobody if it panics or ignores its context. While such a
// call has not returned, no other is made for the session. The result of a failed call only matters
// for its usage.
func ask(parent context.Context, by Summarizer, req summarizer.Request, a *Assignment, ends time.Time, attempts *learned.Attempts) (answer, string, error) {
	if !a.Extractive && attempts.Hanging() {
		return answer{}, "", ErrHanging
	}
	ctx, cancel := context.WithDeadline(parent, ends)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return answer{}, "", err
	}
	answers := make(chan answer, 1)
	returned := make(chan struct{})
	go func() {
		var got answer
		defer close(returned)
		defer func() {
			if cause := recover(); cause != nil {
				got.err = fmt.Errorf("summarizer %w: %v", ErrPanicked, cause)
			}
			answers <- got
		}()
		got.result, got.err = by.Summarize(ctx, req)
		if worded, tells := by.(interface {
			Wording(summarizer.Request) string
		}); tells && got.err == nil {
			got.wording = worded.Wording(req)
		}
	}()
	used := func(got answer) (answer, string, error) {
		if got.err != nil {
			return got, "", got.err
		}
		text, err := usable(got.result.Content)
		return got, text, err
	}
	select {
	case got := <-answers:
		return used(got)
	case <-ctx.Done():
	}
	var spent answer
	select {
	case got := <-answers:
		if got.err == nil {
			return used(got)
		}
		spent = got
	case <-time.After(lastWords):
	}
	attempts.GaveUp(returned)
	if err := parent.Err(); err != nil {
		return spent, "", fmt.Errorf("gave the summarizer up: %w", err)
	}
	return spent, "", fmt.Errorf("summarizer did not answer within %v: %w", a.Timeout, ctx.Err())
}

// lastWords is how long a summarizer whose time is over may take to say what it has used. One that heeds its context
// takes no time for it.
const lastWords = 100 * time.Millisecond

// usable returns the prose of an answer. An answer that calls a tool is not finished: the text next
// to the call was written before the work, and is not the summary.
func usable(content *genai.Content) (string, error) {
	if len(adk.FunctionCalls(&session.Event{LLMResponse: model.LLMResponse{Content: content}})) > 0 {
		return "", fmt.Errorf("%w: it calls a function", summarizer.ErrUnusable)
	}
	return summarizer.Prose(content)
}
