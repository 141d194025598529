package summarizer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
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
	// MaxPieces is how many transcripts a window is read in at most, one call each, if its values do not fit whole
	// into one. Each call gets what the call before has written. 1 never asks more than once, and cuts the longest
	// values in the middle; so does any number if the window needs more pieces. 0 means 8.
	MaxPieces int
}

// defaultMaxPieces lets a model with a window of 8,000 tokens read a result of 32,000 tokens whole, and bounds the cost.
const defaultMaxPieces = 8

var _ InputLimiter = (*LLM)(nil)

// LLM is a summarizer that asks a model. It is safe for concurrent use if its model is.
type LLM struct {
	model    model.LLM
	name     string
	template string
	pack     Pack
	config   *genai.GenerateContentConfig
	maxInput int
	pieces   int
}

// NewLLM returns a summarizer. The error names the field of cfg that is wrong, and the remedy.
func NewLLM(cfg LLMConfig) (*LLM, error) {
	if cfg.Pack == "" {
		cfg.Pack = PackDefault
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	name := cfg.Model.Name()
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
		pieces:   cmp.Or(cfg.MaxPieces, defaultMaxPieces),
	}, nil
}

func (c *LLMConfig) check() error {
	var p configerr.Problems
	if adk.IsNil(c.Model) {
		p.Refuse("Model", nil, "set the model that writes the summaries, or use Extractive, which needs none")
	}
	if n := strings.Count(c.Template, placeholder); n != 1 && c.Template != "" {
		p.Refuse("Template", c.Template, "it contains %s %d times; put it in once, where the conversation goes", placeholder, n)
	}
	if _, known := packs[c.Pack]; !known {
		p.Refuse("Pack", c.Pack, "use one of the Pack constants, or Template for your own wording")
	}
	if c.MaxInputTokens < 0 {
		p.Refuse("MaxInputTokens", c.MaxInputTokens, "set a number of tokens, or 0 to derive it from the model's context window")
	}
	if c.MaxPieces < 0 {
		p.Refuse("MaxPieces", c.MaxPieces, "set 1 to read a window in one call, or 0 for up to %d", defaultMaxPieces)
	}
	if c.ContextWindow < 0 {
		p.Refuse("ContextWindow", c.ContextWindow, "set a number of tokens, or 0 to look it up by the model's name")
	}
	return p.Join("summarizer config")
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

// Summarize asks the model for a summary of req. If the values of its events do not fit whole into MaxInputTokens,
// the model reads them in pieces, see LLMConfig.MaxPieces. If an answer is more than twice as long as req.MaxTokens,
// Summarize asks once more for a shorter version. It returns when ctx is done, even if the model does not. It sets no
// time limit of its own; if ctx has a deadline that the pieces would miss at the pace so far, the rest is read in one
// call.
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
	rest, err := piecesOf(req.Events, l.maxInput, l.pieces)
	if err != nil {
		return res, err
	}
	part, pace := req, pace{}
	for number := 1; ; number++ {
		if len(rest) > 1 && pace.misses(ctx, len(rest)) {
			rest = [][]line{slices.Concat(rest...)}
		}
		began := time.Now()
		last, err := l.write(ctx, req, part, place{number, number + len(rest) - 1}, transcriptOf(rest[0], l.maxInput))
		res.Usage, res.Calls, res.Content = res.Usage.Add(last.usage), res.Calls+last.calls, last.content
		res.Estimated = res.Estimated.Add(last.estimated)
		if err != nil {
			res.Content = nil
			return res, err
		}
		if rest = rest[1:]; len(rest) == 0 {
			return res, nil
		}
		pace.took(time.Since(began))
		part.Summaries = []string{last.text}
	}
}

// write asks for the summary of one piece of req.
func (l *LLM) write(ctx context.Context, req, part Request, at place, transcript string) (answer, error) {
	got := l.ask(ctx, l.prompt(part, at, transcript))
	if got.err == nil {
		got.err = Check(req, got.text)
	}
	if got.err != nil {
		return got, fmt.Errorf("summarizer: model %q gave no summary: %w", l.name, got.err)
	}
	size := tokens.Estimate(got.text)
	if size <= 2*req.maxTokens() {
		return got, nil
	}
	// Sending the answer is cheaper than sending the window again.
	shorter := l.ask(ctx, shortenPrompt(got.text, size, req.maxTokens()))
	if shorter.err == nil && tokens.Estimate(shorter.text) < size && Check(req, shorter.text) == nil {
		got.content, got.text = shorter.content, shorter.text
	}
	got.usage, got.calls = got.usage.Add(shorter.usage), got.calls+shorter.calls
	got.estimated = got.estimated.Add(shorter.estimated)
	return got, nil
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
