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

// Model is a model.LLM that answers from a script and remembers its requests. It is safe for
// concurrent use.
type Model struct {
	name   string
	answer func(n int, req *model.LLMRequest) *model.LLMResponse

	// answering is held while a request is answered, mu only while the requests are looked at: an
	// answer may ask for them.
	answering sync.Mutex
	mu        sync.Mutex
	requests  [][]*genai.Content
}

// NewModel returns a model with that name. answer gets the number of the call, from 0, and the
// request, which it must not change; it is called for one request at a time.
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

// remember returns the number of the request, from 0.
func (m *Model) remember(req *model.LLMRequest) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, slices.Clone(req.Contents))
	return len(m.requests) - 1
}

// Requests returns the contents of all requests so far, in order; the one that is being answered is
// the last.
func (m *Model) Requests() [][]*genai.Content {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Say is a response with text.
func Say(text string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), FinishReason: genai.FinishReasonStop}
}

// CallTool is a response with one call for each set of arguments. ADK gives the calls their IDs.
func CallTool(tool string, args ...map[string]any) *model.LLMResponse {
	content := &genai.Content{Role: genai.RoleModel}
	for _, a := range args {
		content.Parts = append(content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: tool, Args: a}})
	}
	return &model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop}
}
