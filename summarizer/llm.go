package summarizer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// LLMConfig configures an [LLM]. Only Model is required.
type LLMConfig struct {
	// Model writes the summaries.
	Model model.LLM
	// Template is the prompt. It contains {{history}} exactly once, where the recorded conversation
	// goes. The length, focus and note of the request are added at the end. "" means Pack.
	Template string
	// Pack is the built-in wording for summaries. "" means [PackDefault]. Checkpoints always use
	// [PackCheckpoint], unless Template is set.
	Pack Pack
	// GenerateConfig is optional. Only its Temperature, TopP, TopK, Seed, SafetySettings,
	// HTTPOptions and Labels reach the model. NewLLM copies it, so later changes have no effect.
	GenerateConfig *genai.GenerateContentConfig
	// ContextWindow is the context window of the model, in tokens. 0 means the window that Registry has
	// for the model's name, or 128,000 if it has none.
	ContextWindow int
	// Registry has the context windows of models. Nil is the built-in table of package tokens.
	Registry *tokens.Registry
	// MaxInputTokens is the limit of one transcript, in estimated tokens. 0 derives it from the
	// context window: 8,192 tokens, or a quarter of a small window, are set aside for the prompt,
	// earlier summaries and the answer. Three quarters of the rest are for the transcript, and one
	// quarter covers the error of the estimate. So a window of 128,000 tokens gives 89,856.
	MaxInputTokens int
}

var _ InputLimiter = (*LLM)(nil)

// LLM is a summarizer that asks a model. It is safe for concurrent use if its model is.
type LLM struct {
	model    model.LLM
	name     string
	template string
	pack     Pack
	config   *genai.GenerateContentConfig
	maxInput int
}

// NewLLM returns a summarizer. The error names the field of cfg that is wrong, and the remedy.
func NewLLM(cfg LLMConfig) (*LLM, error) {
	if cfg.Model == nil {
		return nil, errors.New("summarizer: LLMConfig.Model is nil; set the model that writes the summaries, or use Extractive, which needs none")
	}
	if cfg.Template != "" {
		if n := strings.Count(cfg.Template, placeholder); n != 1 {
			return nil, fmt.Errorf("summarizer: LLMConfig.Template %s contains %s %d times; put it in once, where the conversation goes",
				quote(cfg.Template, maxLabel), placeholder, n)
		}
	}
	if cfg.Pack == "" {
		cfg.Pack = PackDefault
	}
	if _, ok := packs[cfg.Pack]; !ok {
		return nil, fmt.Errorf("summarizer: LLMConfig.Pack %q is unknown; use one of the Pack constants, or Template for your own wording", string(cfg.Pack))
	}
	if cfg.MaxInputTokens < 0 {
		return nil, fmt.Errorf("summarizer: LLMConfig.MaxInputTokens is %d; set a number of tokens, or 0 to derive it from the model's context window", cfg.MaxInputTokens)
	}
	name := cfg.Model.Name()
	if cfg.ContextWindow < 0 {
		return nil, fmt.Errorf("summarizer: LLMConfig.ContextWindow is %d; set a number of tokens, or 0 to look it up by the model's name", cfg.ContextWindow)
	}
	if cfg.ContextWindow == 0 {
		cfg.ContextWindow, _ = cfg.Registry.Window(name)
	}
	if cfg.MaxInputTokens == 0 {
		cfg.MaxInputTokens = deriveMaxInput(cfg.ContextWindow)
	}
	return &LLM{
		model:    cfg.Model,
		name:     name,
		template: cfg.Template,
		pack:     cfg.Pack,
		config:   callConfig(cfg.GenerateConfig),
		maxInput: cfg.MaxInputTokens,
	}, nil
}

func deriveMaxInput(window int) int {
	rest := min(8192, window/4)
	return max(1, (window-rest)/4*3)
}

// ModelName returns the name of the model.
func (l *LLM) ModelName() string { return l.name }

// MaxInputTokens returns the limit of one transcript, in estimated tokens. A window whose events
// cost at most that much together, by [Cost], is summarized in one call.
func (l *LLM) MaxInputTokens() int { return l.maxInput }

// Summarize asks the model for a summary of req. If the answer is more than twice as long as
// req.MaxTokens, it asks once more for a shorter version. It returns when ctx is done, even if the
// model does not. It sets no time limit of its own.
//
// The error wraps [ErrEmpty] or [ErrTooLong] if no call was made, [ErrUnusable] if the answer is
// unfinished or [Check] refuses it, or else [ErrPanic], ctx's error or the model's error. The Usage
// of the Result holds even then.
func (l *LLM) Summarize(ctx context.Context, req Request) (Result, error) {
	res := Result{Model: l.name}
	if req.empty() {
		return res, ErrEmpty
	}
	if err := ctx.Err(); err != nil {
		return res, fmt.Errorf("summarizer: not started: %w", err)
	}
	transcript, err := Transcript(req.Events, l.maxInput)
	if err != nil {
		return res, err
	}
	first := l.ask(ctx, l.prompt(req, transcript))
	res.Usage = first.usage
	if first.err == nil {
		first.err = Check(req, first.text)
	}
	if first.err != nil {
		return res, fmt.Errorf("summarizer: model %q gave no summary: %w", l.name, first.err)
	}
	res.Content = first.content

	size := tokens.Estimate(first.text)
	if size <= 2*req.maxTokens() {
		return res, nil
	}
	// Sending the answer is cheaper than sending the window again.
	second := l.ask(ctx, shortenPrompt(first.text, size, req.maxTokens()))
	res.Usage = res.Usage.Add(second.usage)
	if second.err == nil && tokens.Estimate(second.text) < size && Check(req, second.text) == nil {
		res.Content = second.content
	}
	return res, nil
}

// ask sends one user message in a new request.
func (l *LLM) ask(ctx context.Context, prompt string) answer {
	return generate(ctx, l.model, &model.LLMRequest{
		Model:    l.name,
		Contents: []*genai.Content{genai.NewContentFromText(prompt, genai.RoleUser)},
		Config:   callConfig(l.config),
	})
}

// templateFor returns the wording for a request.
func (l *LLM) templateFor(req Request) string {
	switch {
	case req.Pack.Known() && !isCheckpoint(req):
		return packs[req.Pack]
	case l.template != "":
		return l.template
	case isCheckpoint(req):
		return packs[PackCheckpoint]
	default:
		return packs[l.pack]
	}
}
