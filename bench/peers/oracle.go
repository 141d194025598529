package main

import (
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/tokens"
)

var _ model.LLM = (*oracle)(nil)

// oracle is a model that writes summaries, the same for all ways: exactly the facts that it is shown,
// each once. What a prompt lacks behind such a summary was never shown to its writer.
type oracle struct {
	// aside is set while what it is asked holds up no turn.
	aside atomic.Bool

	mu sync.Mutex
	// calls is how often it was asked, waited how often a turn waited for the answer.
	calls, waited int
	// tokens is what it was shown and what it wrote, estimated.
	tokens int
}

// Name implements [model.LLM].
func (o *oracle) Name() string { return "oracle" }

// GenerateContent implements [model.LLM].
func (o *oracle) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		text := strings.Join(compactiontest.FactsInContents(req.Contents), " ")
		if text == "" {
			text = "Nothing."
		}
		prompt, output := tokens.OfContents(req.Contents), tokens.Estimate(text)
		if req.Config != nil {
			prompt += tokens.OfContent(req.Config.SystemInstruction)
		}
		o.count(prompt + output)
		yield(&model.LLMResponse{
			Content:      genai.NewContentFromText(text, genai.RoleModel),
			FinishReason: genai.FinishReasonStop,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{
				PromptTokenCount: int32(prompt), CandidatesTokenCount: int32(output), TotalTokenCount: int32(prompt + output),
			},
		}, nil)
	}
}

func (o *oracle) count(tokens int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	o.tokens += tokens
	if !o.aside.Load() {
		o.waited++
	}
}
