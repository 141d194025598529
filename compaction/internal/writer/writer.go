// Package writer has summaries written. It asks a summarizer that may fail, panic, hang or answer
// nonsense, and returns prose that is fit to replace what it was asked to summarize, or an error.
package writer

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Summarizer is compaction.Summarizer.
type Summarizer interface {
	Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error)
}

// Assignment is one summary to be written.
type Assignment struct {
	Window selector.Selection
	// Kind is "" for a summary. Focus, Note and Pack are a person's.
	Kind        record.Kind
	Focus, Note string
	Pack        summarizer.Pack
	// Rewrites means that the summary replaces other summaries and no events. It may be as long as
	// these, and no longer.
	Rewrites bool
	// SummaryTokens is how long summaries are asked to be at most, and Shorter, if not 0, how long
	// this one may be.
	SummaryTokens, Shorter int
	// Room is what the summary may take up next to the branch's others. A longer one is cut.
	Room int
	// Deadline, if not zero, ends the call. Otherwise Timeout after its beginning does.
	Deadline time.Time
	Timeout  time.Duration
	// Extractive means that no model is asked.
	Extractive bool
}

// Write asks the summarizer for a summary. The result says what its calls used, even where there is
// an error. A summary that is not shorter than the window is returned as it is: the caller declines
// it.
func Write(ctx context.Context, by Summarizer, a Assignment, attempts *learned.Attempts) (text string, result summarizer.Result, err error) {
	req, err := a.request()
	if err != nil {
		return "", result, err
	}
	asked := readOnly(req, a.Window.Events)
	result, text, err = ask(ctx, by, req, a, attempts)
	if err != nil {
		return "", result, err
	}
	midTurn, most := a.Window.After != nil, a.Room
	size := promptsize.OfProse(req.Kind, midTurn, text)
	if size < a.Window.Tokens { // otherwise it is declined, whatever its content
		if err := summarizer.Check(asked, text); err != nil {
			return "", result, err
		}
	}
	switch {
	case a.Rewrites:
		most = min(most, a.Window.Tokens)
	case size >= a.Window.Tokens:
		most = size // it is declined, not cut
	}
	if size > most {
		text, err = cut(ctx, text, most-promptsize.Frame(req.Kind, midTurn))
	}
	return text, result, err
}

// request is what the summarizer gets: copies of the window, and the prose of the summaries it
// replaces.
func (a *Assignment) request() (summarizer.Request, error) {
	frame := promptsize.Frame(record.KindSummary, a.Window.After != nil)
	req := summarizer.Request{
		Kind:      record.KindSummary,
		Focus:     a.Focus,
		Note:      a.Note,
		Pack:      a.Pack,
		MaxTokens: min(a.SummaryTokens, max(meter.MinSummary, (a.Window.Tokens-frame)/2)),
	}
	if a.Kind != "" {
		req.Kind = a.Kind
	}
	if a.Rewrites {
		req.MaxTokens = min(a.SummaryTokens, max(meter.MinSummary, a.Window.Tokens-frame))
	}
	if a.Shorter > 0 {
		req.MaxTokens = min(req.MaxTokens, a.Shorter)
	}
	for _, ev := range a.Window.Events {
		req.Events = append(req.Events, copyOf(ev))
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

// cut shortens prose to what fits.
func cut(ctx context.Context, text string, maxTokens int) (string, error) {
	result, err := summarizer.Extractive{}.Summarize(ctx, summarizer.Request{Summaries: []string{text}, MaxTokens: maxTokens})
	if err != nil {
		return "", err
	}
	return summarizer.Prose(result.Content)
}
