package main

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

var _ model.LLM = (*oracle)(nil)

// oracle is a model that writes summaries, the same for all ways: a fact for each text that it is shown
// whole, and for each fact that it is shown. What a prompt lacks behind such a summary was never shown to
// its writer, or not all of it.
type oracle struct {
	// window is its context window in tokens. Zero is none.
	window int
	// aside is set while what it is asked holds up no turn.
	aside atomic.Bool

	mu sync.Mutex
	// calls is how often it was asked, waited how often a turn waited for the answer.
	calls, waited int
	// tokens is what it was shown and what it wrote, estimated. over is how often that was more than its
	// window, of which many providers refuse to read anything.
	tokens, over int
	// rough is how many summaries were written without it, and so may lack what it was shown.
	rough int
	// shown are the texts it was shown, and how much of each at best.
	shown map[int]pieces
}

// Name implements [model.LLM].
func (o *oracle) Name() string { return "oracle" }

// GenerateContent implements [model.LLM].
func (o *oracle) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		text := o.read(marksOf(req.Contents))
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

// read returns the summary of what it is shown.
func (o *oracle) read(found map[int]pieces) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shown == nil {
		o.shown = map[int]pieces{}
	}
	var facts []string
	for _, number := range slices.Sorted(maps.Keys(found)) {
		if found[number] == whole {
			facts = append(facts, fact(number))
		}
		// Two readings of one text, each cut, are no reading of the whole.
		if o.shown[number] != whole {
			o.shown[number] = found[number]
		}
	}
	if len(facts) == 0 {
		return "Nothing."
	}
	return strings.Join(facts, " ")
}

func (o *oracle) count(tokens int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	o.tokens += tokens
	if o.window > 0 && tokens > o.window {
		o.over++
	}
	if !o.aside.Load() {
		o.waited++
	}
}

// wrote notes that a summary was stored which that model wrote.
func (o *oracle) wrote(model string) {
	if model != o.Name() {
		o.mu.Lock()
		o.rough++
		o.mu.Unlock()
	}
}

// why says why a text may be unknown.
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

// reason why a prompt holds nothing of a text.
type reason int

const (
	// none excuses it.
	none reason = iota
	// cut: the writer was shown a part of it, and never the whole.
	cut
	// rough: a summary of the session was written without the writer.
	rough
)
