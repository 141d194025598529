package guard

import (
	"context"
	"iter"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/window"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// Model wraps llm so that each of its calls is counted, and none starts when a bound is reached. Give the
// result to the agent. One guard serves any number of models and agents, at once.
//
// The wrapper sees each request that is really sent, also those of agents that run as tools, which no plugin
// sees. Put it close to the provider: in front of it only what changes requests, so that a request that is
// sent twice is counted twice.
//
// A call that may exceed a bound together with those in flight waits for them, as long as its context lasts. A
// call is charged before its last response is passed on. If the provider fails without reporting any usage, the
// call costs nothing; if the consumer leaves a stream, the call costs what was reported until then; if the model
// reports no usage, the call costs an estimate, and the observer is told.
//
// A call that is refused yields a [*StopError]. A call outside of any session is passed on uncounted.
//
// The wrapper has a Client method, by which ADK recognizes a model for live runs, only if llm has one. Live runs
// are not counted. Its Unwrap method returns llm. If llm is a wrapper of this guard already, Model returns llm.
// If llm is nil, each call of the result returns an error.
func (g *Guard) Model(llm model.LLM) model.LLM {
	if wrapper.Wraps(llm, g) {
		return llm
	}
	w := &guarded{g: g, inner: llm}
	return wrapper.New(llm, g, "guard", w.generate)
}

// guarded is a model with a guard around its calls.
type guarded struct {
	g     *Guard
	inner model.LLM
}

func (w *guarded) generate(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		g, name := w.g, window.ModelOf(w.inner.Name(), req)
		who, state, ok := callerOf(ctx)
		if !ok || req == nil {
			if firstTime(g.once, Unmetered, who.ref, name) {
				g.observe(ctx, Observation{Kind: Unmetered, Model: name, Reason: "no agent makes the call: it is not counted"})
			}
			w.inner.GenerateContent(ctx, req, stream)(yield)
			return
		}
		p, known := g.payerOf(ctx, who, state)
		c := g.pending.adopt(who)
		if c != nil && c.settled { // one of a model that is not wrapped
			c.end(ctx, c.req, false)
			c = nil
		}
		if c == nil {
			var err error
			if c, err = g.reserve(ctx, who, p, name, req); err != nil {
				ends := req
				if g.stores(ctx, who) != nil {
					ends = nil // the plugin ends loops: this is a tool's call, or another one for a request
				}
				if resp, err := g.refuse(ctx, who, p, ends, err); resp != nil || err != nil {
					yield(resp, err)
				}
				return
			}
		}
		c.model = name
		if !known {
			c.unmetered(ctx, "no run of the session was seen by the plugin: its totals are not stored")
		}
		w.send(ctx, c, req, stream, yield)
	}
}

// send makes a call that is reserved.
func (w *guarded) send(ctx context.Context, c *call, req *model.LLMRequest, stream bool, yield func(*model.LLMResponse, error) bool) {
	failed := true // also if the model panics
	defer func() { c.end(ctx, req, failed) }()
	sent := req
	if c.lands {
		sent = c.landed(req)
		c.land(ctx)
	}
	inner := ctx
	if c.left > 0 {
		var cancel context.CancelFunc
		inner, cancel = wrapper.WithTimeout(ctx, c.left)
		defer cancel()
	}
	for resp, err := range w.inner.GenerateContent(inner, sent, stream) {
		if err != nil {
			yield(resp, c.timedOut(ctx, inner, err))
			return
		}
		c.response(ctx, req, resp)
		if c.lands {
			resp = c.withoutCalls(resp)
		}
		if !yield(resp, nil) {
			failed = false
			return
		}
	}
	failed = false
}

// timedOut returns the error of a call: a stop if the time limit has ended it.
func (c *call) timedOut(ctx, inner context.Context, err error) error {
	if ctx.Err() == nil && inner.Err() != nil {
		return stopError(c.limit)
	}
	return err
}

// land notes and reports that a last call was sent. It is not yet when it was reserved: a callback of the app may
// answer in the model's place.
func (c *call) land(ctx context.Context) {
	if !c.lands || c.sent {
		return
	}
	c.sent = true
	c.ticket.Land(c.g.cfg.Now())
	o := c.who.observation(Landed, c.payer)
	o.Model, o.Reason = c.model, landingNote(c.payer.Outlook(c.g.cfg.Now()).Use)
	c.g.observe(ctx, o)
}
