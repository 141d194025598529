package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

// window is the context window of the scripted models.
const window = 32_000

// The scripted models: one walks, the other one reads for it.
const (
	large = "scripted-large"
	small = "scripted-small"
)

// prices are those of a mid-tier and of a small model, in USD per million tokens.
func prices() (*tokens.Registry, error) {
	return tokens.NewRegistry(
		tokens.Model{Name: large, ContextWindow: window, MaxOutputTokens: 4_000, InputPrice: 1.25, OutputPrice: 10},
		tokens.Model{Name: small, ContextWindow: window, MaxOutputTokens: 4_000, InputPrice: 0.10, OutputPrice: 0.40},
	)
}

// provider is the other side of all model calls. It writes its own bill, and knows nothing of layers.
type provider struct {
	registry *tokens.Registry

	mu      sync.Mutex
	calls   int
	bill    tokens.Nano
	last    tokens.Nano // the newest item of the bill
	largest int         // tokens of the largest prompt
	over    int         // prompts that do not fit into the window
}

// receive puts a call on the bill and returns the usage that the model reports.
func (p *provider) receive(name string, req *model.LLMRequest, answer *genai.Content) *genai.GenerateContentResponseUsageMetadata {
	use := tokens.Usage{PromptTokens: size(req.Config), OutputTokens: size(answer)}
	for _, content := range req.Contents {
		use.PromptTokens += size(content)
	}
	priced, _ := p.registry.Lookup(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.last = priced.Nanos(use)
	p.bill += p.last
	p.largest = max(p.largest, use.PromptTokens)
	if use.PromptTokens > window {
		p.over++
	}
	return &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: int32(use.PromptTokens), CandidatesTokenCount: int32(use.OutputTokens),
		TotalTokenCount: int32(use.PromptTokens + use.OutputTokens),
	}
}

// snapshot is the bill so far.
func (p *provider) snapshot() (calls int, bill, last tokens.Nano) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, p.bill, p.last
}

func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return tokens.Estimate(string(data))
}

// scripted is a model whose answers a function writes. It knows only the tool results that its prompt has.
type scripted struct {
	name     string
	provider *provider
	step     func(req *model.LLMRequest) *genai.Content
}

var _ model.LLM = (*scripted)(nil)

func (s *scripted) Name() string { return s.name }

// GenerateContent answers with the next step.
func (s *scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		content := s.step(req)
		usage := s.provider.receive(s.name, req, content)
		calls, _, _ := s.provider.snapshot()
		for i, part := range content.Parts {
			if part.FunctionCall != nil { // ADK would make up another ID in each run
				part.FunctionCall.ID = fmt.Sprintf("call-%d-%d", calls, i)
			}
		}
		yield(&model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop, UsageMetadata: usage}, nil)
	}
}

// withoutTools reports whether a request forbids tool calls, as the last one before a ceiling does.
func withoutTools(req *model.LLMRequest) bool {
	cfg := req.Config
	return cfg != nil && cfg.ToolConfig != nil && cfg.ToolConfig.FunctionCallingConfig != nil &&
		cfg.ToolConfig.FunctionCallingConfig.Mode == genai.FunctionCallingConfigModeNone
}
