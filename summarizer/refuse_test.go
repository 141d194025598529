package summarizer_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestUnfinishedOrEmptyAnswersAreRefused(t *testing.T) {
	t.Parallel()
	content := func(parts ...*genai.Part) *model.LLMResponse {
		return &model.LLMResponse{Content: &genai.Content{Role: "model", Parts: parts}, FinishReason: genai.FinishReasonStop}
	}
	with := func(change func(*model.LLMResponse)) *model.LLMResponse {
		r := says("A fine summary.")
		change(r)
		return r
	}
	cases := map[string][]*model.LLMResponse{
		"no response":       nil,
		"nil response":      only(nil),
		"nil content":       only(with(func(r *model.LLMResponse) { r.Content = nil })),
		"no parts":          only(content()),
		"nil part":          only(content(nil)),
		"empty text":        only(content(&genai.Part{})),
		"blanks":            only(says(" \n\t\u200b")),
		"thoughts only":     only(content(&genai.Part{Text: "I think", Thought: true})),
		"partial only":      only(with(func(r *model.LLMResponse) { r.Partial = true })),
		"interrupted":       only(with(func(r *model.LLMResponse) { r.Interrupted = true })),
		"error code":        only(with(func(r *model.LLMResponse) { r.ErrorCode = "BLOCKED"; r.ErrorMessage = "by policy" })),
		"late error code":   only(says("A fine"), with(func(r *model.LLMResponse) { r.ErrorCode = "500" })),
		"call after text":   only(content(&genai.Part{Text: "A fine summary."}, &genai.Part{FunctionCall: &genai.FunctionCall{Name: "pay"}})),
		"call in text part": only(content(&genai.Part{Text: "A fine summary."}, &genai.Part{Text: "x", FunctionCall: &genai.FunctionCall{Name: "pay"}})),
		"built-in call":     only(content(&genai.Part{Text: "A fine summary."}, &genai.Part{ToolCall: &genai.ToolCall{}})),
		"endless":           only(says(strings.Repeat("word ", 1<<20))),
	}
	for _, reason := range []genai.FinishReason{
		genai.FinishReasonMaxTokens, genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonLanguage,
		genai.FinishReasonOther, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII,
		genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, "length", "SOMETHING_NEW",
	} {
		cases["finish reason "+string(reason)] = only(with(func(r *model.LLMResponse) { r.FinishReason = reason }))
		cases["late finish reason "+string(reason)] = only(says("A fine"), with(func(r *model.LLMResponse) { r.Content, r.FinishReason = nil, reason }))
	}
	for name, responses := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := answering(responses)
			res, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(context.Background(), window())
			if !errors.Is(err, summarizer.ErrUnusable) {
				t.Errorf("error %v, want ErrUnusable", err)
			}
			if res.Content != nil {
				t.Errorf("returned %+v", res.Content)
			}
			if m.calls() != 1 {
				t.Errorf("%d calls; a refused answer must not be paid for twice", m.calls())
			}
		})
	}
}

func TestFinishedAnswersAreAccepted(t *testing.T) {
	t.Parallel()
	for _, reason := range []genai.FinishReason{"", genai.FinishReasonUnspecified, genai.FinishReasonStop, "stop"} {
		r := says("A fine summary.")
		r.FinishReason = reason
		res, err := newLLM(t, summarizer.LLMConfig{Model: answering(only(r))}).Summarize(context.Background(), window())
		if err != nil {
			t.Errorf("finish reason %q: %v", reason, err)
			continue
		}
		if text, _ := summarizer.Prose(res.Content); text != "A fine summary." || res.Content.Role != "model" {
			t.Errorf("finish reason %q: %+v", reason, res.Content)
		}
	}
}

func TestUsageOfARefusedAnswerIsCounted(t *testing.T) {
	t.Parallel()
	r := says("cut sho")
	r.FinishReason = genai.FinishReasonMaxTokens
	res, err := newLLM(t, summarizer.LLMConfig{Model: answering(only(r))}).Summarize(context.Background(), window())
	if err == nil || res.Usage != (tokens.Usage{PromptTokens: 100, OutputTokens: 10}) || res.Model != "scripted-model" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestResponseThatComesWithAnErrorIsDiscarded(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	m := acting(func(_ context.Context, yield yielder) {
		if yield(says("The first half"), nil) {
			yield(says("and the other"), broken)
		}
	})
	res, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(context.Background(), window())
	if !errors.Is(err, broken) || res.Content != nil {
		t.Errorf("got %+v, %v", res.Content, err)
	}
}

func TestModelPanicBecomesAnError(t *testing.T) {
	t.Parallel()
	cause := errors.New("bad adapter")
	for name, f := range map[string]func(context.Context, yielder){
		"at once":      func(context.Context, yielder) { panic("boom") },
		"with error":   func(context.Context, yielder) { panic(cause) },
		"after answer": func(_ context.Context, yield yielder) { yield(says("A fine"), nil); panic("boom") },
		"nil pointer":  func(context.Context, yielder) { var r *model.LLMResponse; _ = r.Content.Role },
		"goexit":       func(context.Context, yielder) { runtime.Goexit() },
		"double yield": func(_ context.Context, yield yielder) {
			r := says("x")
			r.ErrorCode = "E"
			yield(r, nil)
			yield(r, nil) // the consumer has stopped
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := newLLM(t, summarizer.LLMConfig{Model: acting(f)}).Summarize(context.Background(), window())
			if !errors.Is(err, summarizer.ErrPanic) || res.Content != nil {
				t.Errorf("got %+v, %v", res.Content, err)
			}
			if name == "with error" && !errors.Is(err, cause) {
				t.Errorf("the cause is lost: %v", err)
			}
		})
	}
}

func TestNilIteratorBecomesAnError(t *testing.T) {
	t.Parallel()
	if _, err := newLLM(t, summarizer.LLMConfig{Model: nilIterator{}}).Summarize(context.Background(), window()); !errors.Is(err, summarizer.ErrPanic) {
		t.Errorf("error %v", err)
	}
}
