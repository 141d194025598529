package guard

import (
	"context"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

// billed is the usage that a provider charges for. Tokens of tools that ran at the provider are charged as
// input.
func billed(m *genai.GenerateContentResponseUsageMetadata) tokens.Usage {
	u := tokens.UsageOf(m)
	if m != nil {
		u.PromptTokens += max(0, int(m.ToolUsePromptTokenCount))
	}
	return u
}

// response notes a response, and charges the call with its first complete one, before the tools run that it calls.
// Usage that comes later corrects the charge.
func (c *call) response(ctx context.Context, req *model.LLMRequest, resp *model.LLMResponse) {
	if resp == nil {
		return
	}
	c.answered = true
	larger := c.report(resp)
	switch {
	case resp.Partial && !c.settled:
		c.last = resp
	case !resp.Partial && !c.settled:
		c.g.rounds.begin(c.who)
		c.settle(ctx, req, resp)
	case larger:
		c.charge(ctx, c.usage)
	}
}

// report notes the usage of a response if it is the largest report of the call so far, and the newest of two that are
// as large: what was read from a cache may be known last. Any part of an answer may carry it:
// some models report it in chunks only, or behind the complete response, and some repeat it with less. Reports are
// kept as a whole, so that tokens and money are those of one and the same.
func (c *call) report(resp *model.LLMResponse) bool {
	usage := billed(resp.UsageMetadata)
	if usage == c.usage || usage.Total() < c.usage.Total() {
		return false
	}
	c.usage = usage
	return true
}

// end ends a call: if it is not settled, it is charged with what its responses have told, as long as it has not
// failed without usage.
func (c *call) end(ctx context.Context, req *model.LLMRequest, failed bool) {
	switch {
	case c.settled:
	case c.last != nil && (!failed || c.usage != (tokens.Usage{})):
		c.settle(ctx, req, c.last)
	default:
		c.release(ctx)
	}
	if c.guessed {
		c.guessed = false
		c.unmetered(ctx, "the model reports no usage: estimated tokens are charged")
	}
}

// release ends a call that has used nothing.
func (c *call) release(ctx context.Context) {
	c.settled = true
	c.g.tripped(ctx, c.who, c.payer, c.ticket.Release(c.g.cfg.Now()))
}

// settle charges the call with the largest report, or with an estimate of a response if there is none.
func (c *call) settle(ctx context.Context, req *model.LLMRequest, resp *model.LLMResponse) {
	usage := c.usage
	if usage == (tokens.Usage{}) {
		if resp.ErrorCode != "" && resp.Content == nil {
			c.release(ctx)
			return
		}
		usage, c.guessed = c.estimated(req, resp), true
	}
	c.charge(ctx, usage)
}

// charge charges the call with its usage as a whole, in place of what was charged for it before.
func (c *call) charge(ctx context.Context, usage tokens.Usage) {
	c.settled, c.guessed = true, c.guessed && c.usage == (tokens.Usage{})
	amount, priced := c.g.amount(c.model, usage)
	s := c.ticket.Settle(c.g.cfg.Now(), c.model, amount, !priced)
	c.g.charged(ctx, c.who, c.payer, c.model, s.Charged, s)
}

// estimated is the usage of a call whose model reports none.
func (c *call) estimated(req *model.LLMRequest, resp *model.LLMResponse) (u tokens.Usage) {
	defer c.g.places.Survive("guard: an estimate of a call") // an argument of the app's own type may panic when it is measured
	u.OutputTokens = max(1, tokens.OfContent(resp.Content))
	contents, fixed := promptsize.OfRequest(req)
	u.PromptTokens = contents + fixed
	return u
}

// unmetered reports a call that is not charged as it should be, once per model and session.
func (c *call) unmetered(ctx context.Context, reason string) {
	o := c.who.observation(Unmetered, c.payer)
	if firstTime(c.g.once, Unmetered, o.Session, c.model) {
		o.Model, o.Reason = c.model, reason
		c.g.observe(ctx, o)
	}
}
