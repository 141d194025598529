package writer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/summarizer"
)

// The failures of a call that are not the summarizer's own errors.
var (
	ErrPanicked = errors.New("panicked")
	ErrHanging  = errors.New("an earlier summarizer call for this session has not returned yet")
)

// extractiveTime is what the extractive summarizer is given at least, on however busy a machine. It
// takes milliseconds.
const extractiveTime = 10 * time.Second

// ends is when a call that begins now is given up.
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

// ask calls the summarizer, within the timeout, and returns its usable prose. The call runs in a
// goroutine of its own, so that it harms nobody if it panics or ignores its context. While such a
// call has not returned, no other is made for the session. The result of a failed call only matters
// for its usage.
func ask(parent context.Context, by Summarizer, req summarizer.Request, a Assignment, attempts *learned.Attempts) (summarizer.Result, string, error) {
	if !a.Extractive && attempts.Hanging() {
		return summarizer.Result{}, "", ErrHanging
	}
	ctx, cancel := context.WithDeadline(parent, a.ends())
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
				answers <- answer{err: fmt.Errorf("summarizer %w: %v", ErrPanicked, cause)}
			}
		}()
		result, err := by.Summarize(ctx, req)
		answers <- answer{result, err}
	}()
	select {
	case got := <-answers:
		if got.err != nil {
			return got.result, "", got.err
		}
		text, err := usable(got.result.Content)
		return got.result, text, err
	case <-ctx.Done():
		attempts.GaveUp(returned)
		if err := parent.Err(); err != nil {
			return summarizer.Result{}, "", fmt.Errorf("gave the summarizer up: %w", err)
		}
		return summarizer.Result{}, "", fmt.Errorf("summarizer did not answer within %v: %w", a.Timeout, ctx.Err())
	}
}

// usable returns the prose of an answer. An answer that calls a tool is not finished: the text next
// to the call was written before the work, and is not the summary.
func usable(content *genai.Content) (string, error) {
	if len(adk.FunctionCalls(&session.Event{LLMResponse: model.LLMResponse{Content: content}})) > 0 {
		return "", fmt.Errorf("%w: it calls a function", summarizer.ErrUnusable)
	}
	return summarizer.Prose(content)
}
