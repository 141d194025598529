package main

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

var _ model.LLM = (*oracle)(nil)

// oracle is the model that writes summaries, the same for every way. It returns a fact for each text that
// it reads uncut, and repeats each fact and each reference to a whole result that it reads; [shown.summary]
// puts them into prose. So a text that is missing from a prompt after its summary was never shown to the
// writer, or only in part.
type oracle struct {
	// window is its context window in tokens, 0 for no limit.
	window int
	// instead is what it answers instead of a summary; nil: nothing.
	instead func(ctx context.Context) (string, error)
	// aside is set while no turn waits for the writer.
	aside atomic.Bool

	mu sync.Mutex
	// calls counts requests to the writer, and waited those for which a turn waited.
	calls, waited int
	// tokens is the estimated number of tokens read and written: readTokens and wroteTokens. over counts
	// requests larger than the window, which many providers reject.
	tokens, readTokens, wroteTokens, over int
	// rough counts summaries written without the writer, which may lack any text.
	rough int
	// shown holds each text that the writer read, with the most complete set of marks in a single
	// request.
	shown map[int]pieces
}

// Name implements [model.LLM].
func (o *oracle) Name() string { return "oracle" }

// GenerateContent implements [model.LLM].
func (o *oracle) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		text, err := o.write(ctx, req)
		prompt, output := tokens.OfContents(req.Contents), tokens.Estimate(text)
		if req.Config != nil {
			prompt += tokens.OfContent(req.Config.SystemInstruction)
		}
		o.count(prompt, output)
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&model.LLMResponse{
			Content:      genai.NewContentFromText(text, genai.RoleModel),
			FinishReason: genai.FinishReasonStop,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{
				PromptTokenCount: int32(prompt), CandidatesTokenCount: int32(output), TotalTokenCount: int32(prompt + output),
			},
		}, nil)
	}
}

// write returns what it answers.
func (o *oracle) write(ctx context.Context, req *model.LLMRequest) (string, error) {
	if o.instead != nil {
		return o.instead(ctx)
	}
	return o.read(shownIn(req.Contents)), nil
}

// read returns the summary of what it reads, and remembers it.
func (o *oracle) read(r shown) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shown == nil {
		o.shown = map[int]pieces{}
	}
	for number, found := range r.marks {
		// Two cut readings of one text do not add up to the whole text.
		if o.shown[number] != whole {
			o.shown[number] = found
		}
	}
	return r.summary()
}

func (o *oracle) count(prompt, output int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tokens := prompt + output
	o.calls++
	o.readTokens += prompt
	o.wroteTokens += output
	o.tokens += tokens
	if o.window > 0 && tokens > o.window {
		o.over++
	}
	if !o.aside.Load() {
		o.waited++
	}
}

// wrote records that a summary by the given model was stored.
func (o *oracle) wrote(model string) {
	if model != o.Name() {
		o.mu.Lock()
		o.rough++
		o.mu.Unlock()
	}
}

// why returns the reason why a text may be missing.
func (o *oracle) why(number int) reason {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.shown[number] != 0 && o.shown[number] != whole:
		return cut
	case o.rough > 0:
		return rough
	}
	return none
}

// reason is why a prompt contains no part of a text.
type reason int

const (
	// none: there is no excuse.
	none reason = iota
	// cut: the writer read a part of it, but never the whole.
	cut
	// rough: a summary of the session was written without the writer.
	rough
)
