package summarizer_test

import (
	"context"
	"iter"
	"sync"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/summarizer"
)

// yielder receives the responses of a scripted answer.
type yielder = func(*model.LLMResponse, error) bool

// scripted is a model that gives its answers in turn and records its requests.
type scripted struct {
	name    string
	answers []func(ctx context.Context, yield yielder)

	mu       sync.Mutex
	requests []*model.LLMRequest
	streamed bool
}

var _ model.LLM = (*scripted)(nil)

func (s *scripted) Name() string { return s.name }

func (s *scripted) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streamed = s.streamed || stream
	answer := s.answers[min(len(s.requests), len(s.answers)-1)]
	s.requests = append(s.requests, req)
	return func(yield func(*model.LLMResponse, error) bool) { answer(ctx, yield) }
}

func (s *scripted) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// prompt returns the text of the i-th request.
func (s *scripted) prompt(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[i].Contents[0].Parts[0].Text
}

// answering returns a model with one answer per list of responses. The last answer repeats.
func answering(answers ...[]*model.LLMResponse) *scripted {
	s := &scripted{name: "scripted-model"}
	for _, responses := range answers {
		s.answers = append(s.answers, func(_ context.Context, yield yielder) {
			for _, r := range responses {
				if !yield(r, nil) {
					return
				}
			}
		})
	}
	return s
}

// acting returns a model that answers with a function.
func acting(f func(ctx context.Context, yield yielder)) *scripted {
	return &scripted{name: "scripted-model", answers: []func(context.Context, yielder){f}}
}

func says(text string) *model.LLMResponse {
	return &model.LLMResponse{
		Content:       genai.NewContentFromText(text, genai.RoleModel),
		FinishReason:  genai.FinishReasonStop,
		UsageMetadata: used(100, 10),
	}
}

func used(prompt, output int32) *genai.GenerateContentResponseUsageMetadata {
	return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: output}
}

func only(responses ...*model.LLMResponse) []*model.LLMResponse { return responses }

func newLLM(t *testing.T, cfg summarizer.LLMConfig) *summarizer.LLM {
	t.Helper()
	l, err := summarizer.NewLLM(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// window returns a request with one event.
func window() summarizer.Request { return summarizer.Request{Events: events(user("my order is A-17"))} }

// nilIterator is a model that returns a nil iterator.
type nilIterator struct{}

func (nilIterator) Name() string { return "nil" }

func (nilIterator) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return nil
}
