package compactiontest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

var _ model.LLM = (*Model)(nil)

// Model is a scripted model.LLM that records its requests. It is safe for concurrent use.
type Model struct {
	name   string
	answer func(n int, req *model.LLMRequest) *model.LLMResponse

	// answering serializes answers. mu guards only the recorded requests, so that an answer
	// function may read them.
	answering sync.Mutex
	mu        sync.Mutex
	requests  [][]*genai.Content
}

// NewModel returns a model with the given name. answer receives the number of the call, starting at
// 0, and the request, which it must not modify. Calls to answer never overlap.
func NewModel(name string, answer func(n int, req *model.LLMRequest) *model.LLMResponse) *Model {
	return &Model{name: name, answer: answer}
}

// Name returns the model's name.
func (m *Model) Name() string { return m.name }

// GenerateContent answers the request with one response.
func (m *Model) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(m.respond(req), nil)
	}
}

func (m *Model) respond(req *model.LLMRequest) *model.LLMResponse {
	m.answering.Lock()
	defer m.answering.Unlock()
	return m.answer(m.remember(req), req)
}

// remember records the request and returns its number, starting at 0.
func (m *Model) remember(req *model.LLMRequest) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, slices.Clone(req.Contents))
	return len(m.requests) - 1
}

// Requests returns the contents of all requests so far, in order. The last one may still be waiting
// for its answer.
func (m *Model) Requests() [][]*genai.Content {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Say returns a text response.
func Say(text string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), FinishReason: genai.FinishReasonStop}
}

// CallTool returns a response with one call for each set of arguments. ADK assigns the call IDs.
func CallTool(tool string, args ...map[string]any) *model.LLMResponse {
	content := &genai.Content{Role: genai.RoleModel}
	for _, a := range args {
		content.Parts = append(content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: tool, Args: a}})
	}
	return &model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop}
}
