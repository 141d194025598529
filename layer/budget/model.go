package budget

import (
	"context"
	"iter"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// Model wraps llm so that each of its requests is measured and kept within the context window. Give the
// result to the agent. One meter serves any number of models and agents, at once.
//
// For each request, in this order, the wrapper
//
//   - declares [Config.ReadResult] where there may be something to read, and masks old results with
//     [Config.Masker];
//   - measures the request as it will be sent;
//   - if it is over Block, compacts the session with [Config.Compactor] and builds the request again, then
//     masks all results but the newest, then drops old tool rounds, each only if the one before was not
//     enough;
//   - calls llm. If llm refuses the prompt as too long before its first response, the request is made
//     smaller in the same way and sent once more.
//
// A request that the app makes by itself, without an agent or in an agent with a Run function of its own, is
// only measured. If it is too large it is dropped from, too, and results in it are masked in a copy. Where
// read_result cannot be declared, for example because the reply must be JSON, results are neither cut nor
// masked in batches.
//
// A session is compacted, and a request rebuilt, at most once per request. To rebuild it, the wrapper
// runs the agent again up to its model call, so callbacks before the model and around the agent, and
// instruction providers, run a second time. Tools do not run, and no event is yielded.
// [Config.DisableRebuild] turns this off.
//
// A turn ends with an error of this package only if it can end in no other way: with an
// [*OverflowError], if llm refuses the smaller request too, or would refuse it in any case: one part of it
// alone is larger than a window that is known, or, going by the counts of earlier requests, all that must
// be sent is. All other failures, those of the masker, the compactor, a store or an
// observer included, leave the request as it was.
//
// The wrapper has a Client method, by which ADK recognizes a model for live runs, only if llm has one.
// Its Unwrap method returns llm. If llm is a wrapper of this meter already, Model returns llm. If llm is
// nil, each call of the result returns an error.
//
// The result must not be used as the summarizer's model: give compaction llm itself.
func (m *Meter) Model(llm model.LLM) model.LLM {
	if wrapper.Wraps(llm, m) {
		return llm
	}
	w := &metered{meter: m, inner: llm}
	return wrapper.New(llm, m, "budget", w.generate)
}

// metered is a model with a meter around its calls.
type metered struct {
	meter *Meter
	inner model.LLM
}

// generate measures the request, makes it smaller if it must be, and calls the inner model. It changes req in
// place.
func (w *metered) generate(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if w.captures(ctx, req) {
			return
		}
		if req == nil || passesThrough(ctx, req) {
			w.inner.GenerateContent(ctx, req, stream)(yield)
			return
		}
		c := &call{origin: origin{m: w.meter, ctx: ctx}, w: w, req: req}
		var err error
		c.guard("preparing a request", func() error {
			err = c.prepare()
			return nil
		})
		if err != nil {
			yield(nil, err)
			return
		}
		c.send(stream, yield)
	}
}
