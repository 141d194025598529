package replay

import (
	"context"
	"iter"
	"math"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// charged wraps a summarizer that calls no model, or tells nothing of what it used. For each summary it reports
// the tokens that a model would have read, with the library's own prompt, and written.
type charged struct {
	compaction.Summarizer
	charge func(tokens.Usage) // receives estimated tokens
	model  string             // that the summaries are charged as, "" for the agent's
}

// ModelName is the model by whose prices it is decided when to compact.
func (c charged) ModelName() string { return c.model }

// chargedUpTo is charged for a summarizer that limits what it reads in one call.
type chargedUpTo struct {
	charged
	summarizer.InputLimiter
}

// chargeFor wraps a summarizer.
func chargeFor(inner compaction.Summarizer, model string, charge func(tokens.Usage)) compaction.Summarizer {
	c := charged{inner, charge, model}
	if named, ok := inner.(interface{ ModelName() string }); ok && model == "" {
		c.model = named.ModelName()
	}
	if limiter, ok := inner.(summarizer.InputLimiter); ok {
		return chargedUpTo{c, limiter}
	}
	return c
}

// Summarize implements the summarizer.
func (c charged) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	result, err := c.Summarizer.Summarize(ctx, req)
	if err != nil || result.Usage.Add(result.Estimated).Total() > 0 || result.Content == nil {
		return result, err
	}
	reader := &reader{answer: result.Content}
	llm, err := summarizer.NewLLM(summarizer.LLMConfig{Model: reader, MaxInputTokens: math.MaxInt32})
	if err != nil {
		return result, nil
	}
	// The reader returns the summary that exists already. The library may refuse it, but by then
	// the reader has counted the prompt.
	_, _ = llm.Summarize(ctx, req)
	if reader.usage.Total() > 0 {
		c.charge(reader.usage)
	}
	return result, nil
}

// reader is a model that counts the tokens of its prompt and returns a given answer.
type reader struct {
	answer *genai.Content
	usage  tokens.Usage
}

// Name implements [model.LLM].
func (r *reader) Name() string { return "reader" }

// GenerateContent implements [model.LLM].
func (r *reader) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for _, content := range req.Contents {
			r.usage.PromptTokens += tokens.OfContent(content)
		}
		r.usage.OutputTokens += tokens.OfContent(r.answer)
		yield(&model.LLMResponse{Content: r.answer, TurnComplete: true, FinishReason: genai.FinishReasonStop}, nil)
	}
}

// charge adds the cost of a summary that no model wrote, at the recording's scale.
func (r *run) charge(estimated tokens.Usage) {
	usage := tokens.Usage{PromptTokens: r.scale.scaled(estimated.PromptTokens), OutputTokens: r.scale.scaled(estimated.OutputTokens)}
	price := r.opts.SummaryModel
	if !price.Priced() {
		price = r.opts.Model
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := &r.report.Summarizer
	sum.Calls++
	sum.Estimated++
	sum.PromptTokens += usage.PromptTokens
	sum.OutputTokens += usage.OutputTokens
	sum.Dollars += price.Cost(usage)
	r.spends = append(r.spends, spend{r.calls, nanos(price.Cost(usage))})
}
