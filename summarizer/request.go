package summarizer

import (
	"context"
	"errors"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// defaultMaxTokens is the length of a summary if the request does not set one.
const defaultMaxTokens = 500

// Errors for errors.Is. Every error of a summarizer in this package wraps one of these, a context
// error, or the model's own error.
var (
	// ErrUnusable marks an answer that must not replace conversation: it is empty, unfinished,
	// blocked, not prose, or worthless (see [Check]). The history must stay as it is.
	ErrUnusable = errors.New("summarizer: no usable summary")
	// ErrTooLong marks a window that cannot be rendered within the limit without leaving something
	// out.
	ErrTooLong = errors.New("summarizer: events do not fit into the transcript")
	// ErrEmpty marks a request with neither events nor summaries.
	ErrEmpty = errors.New("summarizer: nothing to summarize")
	// ErrPanic marks a model that panicked. The panic was caught.
	ErrPanic = errors.New("summarizer: model panicked")
)

// Request is the input of a summarizer. All of it is a deep copy that the summarizer may keep or
// modify.
type Request struct {
	// Events is the window, oldest first. Nil entries are skipped.
	Events []*session.Event
	// Summaries are the texts of earlier summaries that the result also replaces, oldest first. A
	// merge has summaries only. A rolling summary has both.
	Summaries []string
	// Kind selects the wording of the built-in summarizers. "" means [record.KindSummary].
	Kind record.Kind
	// Focus is the topic to give most room to, "" for none.
	Focus string
	// Note is an operator's remark on a finished task, for checkpoints. "" means none.
	Note string
	// Pack is a wording for this request. "" means the wording that the summarizer is configured
	// with. Summarizers without a prompt ignore it.
	Pack Pack
	// MaxTokens is the maximum length of the summary, in estimated tokens. 0 or less means 500.
	// [LLM] asks its model to keep the limit; [Extractive] enforces it.
	MaxTokens int
	// Again says in one sentence what was wrong with an earlier answer to the same request, "" for the first one. Package
	// compaction asks once more if a summary has values that its window does not have. [LLM] puts it into the prompt.
	Again string
}

func (r Request) maxTokens() int {
	if r.MaxTokens <= 0 {
		return defaultMaxTokens
	}
	return r.MaxTokens
}

// empty reports whether there is nothing to summarize. An event without content still counts: a
// record would cover it, so the summary must show it.
func (r Request) empty() bool {
	for _, ev := range r.Events {
		if ev != nil {
			return false
		}
	}
	for _, s := range r.Summaries {
		if !blank(s) {
			return false
		}
	}
	return true
}

// Result is a summary and its cost. If Summarize fails, Content is nil, and Usage still counts the
// model calls that were made.
type Result struct {
	// Content is prose: text parts only, role "model".
	Content *genai.Content
	// Usage is what the provider reported for all model calls of this summary together.
	Usage tokens.Usage
	// Estimated is what the calls used that no report came for, by estimate: the model reports none, or the call was
	// given up before it answered, and is paid for all the same. It is no part of Usage.
	Estimated tokens.Usage
	// Calls is how many calls of a model that were: those that were answered, were given up, or for which the provider
	// reported usage. 0 with a Usage means 1.
	Calls int
	// Model is the name of the model that wrote the summary, "" if no model did.
	Model string
}

// InputLimiter is implemented by a summarizer that cannot read a window of any size in one call.
// Package compaction looks for it on Config.Summarizer and chooses windows that fit; it takes
// 64,000 tokens for a summarizer without it.
type InputLimiter interface {
	// MaxInputTokens returns the largest window for one Summarize call: the sum of [Cost] over its
	// events, in estimated tokens. It must be positive. Package compaction calls it once, when the
	// service is made.
	MaxInputTokens() int
}

// Func makes a function a summarizer. The function must return when ctx is done, and must be safe
// for concurrent use.
type Func func(context.Context, Request) (Result, error)

// Summarize calls f.
func (f Func) Summarize(ctx context.Context, req Request) (Result, error) { return f(ctx, req) }
