package summarizer

import (
	"context"
	"errors"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// defaultMaxTokens is the length asked for when a request names none.
const defaultMaxTokens = 500

// Errors that callers tell apart. All that this package returns are wrapped around one of these, a
// context error, or the model's own error.
var (
	// ErrUnusable marks an answer that must not stand in for conversation: empty, unfinished, blocked,
	// not prose, or worthless (see [Check]). The history has to stay as it is.
	ErrUnusable = errors.New("summarizer: no usable summary")
	// ErrTooLong marks a window that cannot be rendered within the limit without leaving something out.
	ErrTooLong = errors.New("summarizer: events do not fit into the transcript")
	// ErrEmpty marks a request that holds neither events nor summaries.
	ErrEmpty = errors.New("summarizer: nothing to summarize")
	// ErrPanic marks a model that panicked; the panic was caught.
	ErrPanic = errors.New("summarizer: model panicked")
)

// Request is what a summarizer is given: deep copies, its own to keep or change.
type Request struct {
	// Events is the window, oldest first. Nil entries are skipped.
	Events []*session.Event
	// Summaries is the prose of earlier summaries that the result must also stand in for, oldest
	// first. A merge has only these; a rolling summary has both.
	Summaries []string
	// Kind picks the wording of the built-in summarizers; "" means [record.KindSummary].
	Kind record.Kind
	// Focus is what a person wants to see kept above all; "" for none.
	Focus string
	// Note is a person's remark on a finished task (checkpoints); "" for none.
	Note string
	// Pack is the wording that was asked for, before that of the summarizer's own configuration; "" for
	// that one. Summarizers without a prompt pass over it.
	Pack Pack
	// MaxTokens is how long the summary should be, in estimated tokens. 0 or less means 500. A model
	// is asked to keep it, [Extractive] does keep it.
	MaxTokens int
}

func (r Request) maxTokens() int {
	if r.MaxTokens <= 0 {
		return defaultMaxTokens
	}
	return r.MaxTokens
}

// empty reports whether there is nothing to summarize. An event without content still counts: it
// would be covered, so it has to be shown.
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

// Result is a summary and what it cost. When Summarize fails, Content is nil and Usage still counts
// the model calls that were made.
type Result struct {
	// Content is prose: text parts only, role "model".
	Content *genai.Content
	// Usage is the sum over all model calls made for the summary, as the provider reported them.
	Usage tokens.Usage
	// Model is the name of the model that wrote it, "" for none.
	Model string
}

// InputLimiter is implemented by a summarizer that cannot read a window of any size in one call.
// Package compaction looks for it on Config.Summarizer and chooses windows that fit; it takes 64,000
// tokens for a summarizer without it.
type InputLimiter interface {
	// MaxInputTokens returns the largest window for one Summarize call, in estimated tokens: the sum
	// of [Cost] over its events. It is called once, when the service is made, and must be positive.
	MaxInputTokens() int
}

// Func lets a function be a summarizer. It must return when ctx is done.
type Func func(context.Context, Request) (Result, error)

// Summarize calls f.
func (f Func) Summarize(ctx context.Context, req Request) (Result, error) { return f(ctx, req) }
