package summarizer

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// maxAnswer limits how much of an answer is kept, in bytes. No summary is that long, and a model
// that never stops would otherwise exhaust memory.
const maxAnswer = 4 << 20

// answer is the outcome of one model call. usage and calls are valid even if err is set.
type answer struct {
	content *genai.Content
	text    string
	usage   tokens.Usage
	// estimated is the usage of calls without a report.
	estimated tokens.Usage
	calls     int // 1 if there is a response, else 0; the sum for a summary that was asked for twice
	err       error
}

// generate makes one model call. It returns when the call ends or ctx is done, whichever comes
// first.
//
// The model runs in its own goroutine, so that a model that ignores its context cannot block the
// caller, and a panic cannot end the program. The goroutine ends with the model's call, because the
// channel is buffered and accepts the answer even if nobody waits for it.
func generate(ctx context.Context, llm model.LLM, req *model.LLMRequest) answer {
	got := read(ctx, llm, req)
	if got.usage == (tokens.Usage{}) && (got.calls > 0 || ctx.Err() != nil) { // given up, not refused
		got.calls, got.estimated.OutputTokens = 1, max(1, tokens.OfContent(got.content))
		for _, content := range req.Contents {
			got.estimated.PromptTokens += tokens.OfContent(content)
		}
	}
	return got
}

// read makes a call and returns when ctx is done, even if the model does not.
func read(ctx context.Context, llm model.LLM, req *model.LLMRequest) answer {
	done := make(chan answer, 1)
	go func() {
		got := answer{err: fmt.Errorf("%w: it ended its goroutine", ErrPanic)}
		defer func() {
			if p := recover(); p != nil {
				got.err = panicError(p)
			}
			done <- got
		}()
		collect(ctx, llm, req, &got)
	}()
	select {
	case got := <-done:
		return got
	case <-ctx.Done():
	}
	select {
	case got := <-done: // both were ready: take the answer, which is paid for
		return got
	default:
		return answer{err: ctx.Err()}
	}
}

// collect reads one answer into got. It stores usage as soon as a response reports it, so that a
// panic does not lose it.
func collect(ctx context.Context, llm model.LLM, req *model.LLMRequest, got *answer) {
	content := &genai.Content{Role: genai.RoleModel}
	size, stopped := 0, false
	for resp, err := range llm.GenerateContent(ctx, req, false) {
		if err != nil {
			got.err = err
			return
		}
		if resp == nil {
			continue
		}
		got.calls = 1
		// Every report is the running total, and some models repeat it with less.
		if usage := tokens.UsageOf(resp.UsageMetadata); usage.Total() >= got.usage.Total() && usage != (tokens.Usage{}) {
			got.usage = usage
		}
		if err := refusal(resp); err != nil {
			got.err = err
			return
		}
		if !resp.Partial { // the text of a partial response is repeated in a later, complete one
			for _, p := range proseParts(resp.Content) {
				content.Parts = append(content.Parts, p)
				size += len(p.Text)
			}
			stopped = strings.EqualFold(string(resp.FinishReason), string(genai.FinishReasonStop))
		}
		if ctx.Err() != nil {
			break
		}
		if size > maxAnswer {
			got.err = fmt.Errorf("%w: the answer is longer than %d bytes", ErrUnusable, maxAnswer)
			return
		}
	}
	if err := ctx.Err(); err != nil && !stopped {
		got.err = err // the end of ctx may have stopped the model mid-sentence
		return
	}
	got.content = content
	got.text, got.err = Prose(content)
}

// refusal returns the reason why a response cannot be part of a summary, or nil. A truncated text
// looks complete, but the part that is missing would be lost.
func refusal(resp *model.LLMResponse) error {
	switch {
	case resp.ErrorCode != "":
		return fmt.Errorf("%w: the model reported %s: %s", ErrUnusable, label(resp.ErrorCode, ""), orNothing(escape(resp.ErrorMessage)))
	case resp.Interrupted:
		return fmt.Errorf("%w: the answer was interrupted", ErrUnusable)
	case !finished(resp.FinishReason):
		return fmt.Errorf("%w: the answer ended with %s instead of STOP", ErrUnusable, label(string(resp.FinishReason), ""))
	case resp.Content == nil:
		return nil
	}
	for _, p := range resp.Content.Parts {
		if callsTool(p) {
			return fmt.Errorf("%w: the answer calls a tool", ErrUnusable)
		}
	}
	return nil
}

// finished reports whether an answer is complete. A missing reason counts as complete, because some
// models never give one.
func finished(reason genai.FinishReason) bool {
	return reason == "" || reason == genai.FinishReasonUnspecified ||
		strings.EqualFold(string(reason), string(genai.FinishReasonStop))
}

func panicError(p any) error {
	if err, ok := p.(error); ok {
		return fmt.Errorf("%w: %w", ErrPanic, err)
	}
	return fmt.Errorf("%w: %v", ErrPanic, p)
}
