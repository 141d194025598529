package prompt

import (
	"context"
	"iter"
	"weak"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// Model wraps llm so that each request of an agent has the sections in its system instruction. Give the result
// to the agent. A request that [Builder.Plugin] has seen already has them, and stays as the app's callbacks
// left it; the wrapper is for agents that run as tools, which have no plugins, and for apps without the plugin.
//
// For layers and adapters below it, the wrapper puts the break points and the names of the sections into the
// context: see [Breakpoints] and [SectionNames]. It reports each change of an instruction.
//
// A model call that belongs to no agent's run is passed on as it is. So is a request whose sections cannot be
// added because something in it panics, and one that names cached content. No error comes from the wrapper.
//
// The wrapper has a Client method, by which ADK recognizes a model for live runs, only if llm has one. Its
// Unwrap method returns llm. If llm is a wrapper of this builder already, or the builder has no sections in the
// system instruction, Model returns llm. If llm is nil, each call of the result returns an error.
func (b *Builder) Model(llm model.LLM) model.LLM {
	if !b.has(0, stable) || wrapper.Wraps(llm, b) {
		return llm
	}
	w := &prompted{builder: b, inner: llm}
	return wrapper.New(llm, b, "prompt", w.generate)
}

// prompted is a model with a builder in front of its calls.
type prompted struct {
	builder *Builder
	inner   model.LLM
}

// generate adds the sections and calls the inner model. It changes req in place.
func (w *prompted) generate(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		w.inner.GenerateContent(w.builder.prepare(ctx, req), req, stream)(yield)
	}
}

// prepare adds the sections to a request, and returns its context with the layout. Whatever fails in it leaves
// the request as it is.
func (b *Builder) prepare(ctx context.Context, req *model.LLMRequest) (with context.Context) {
	with = ctx
	defer b.places.Survive("prompt: a model call")
	ic := adk.Invocation(ctx)
	if req == nil || ic == nil {
		return ctx
	}
	read := runContext{ic}
	who, known := callerIn(read)
	if !known {
		return ctx
	}
	texts := b.textsFor(read, who)
	if !b.requests.Contains(weak.Make(req)) {
		texts.addTo(req)
	}
	return withLayout(ctx, b.look(ctx, who, req, texts, byWrapper))
}
