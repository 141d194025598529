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

// response notes a response, and charges the call with its first complete one. A stream repeats its usage so
// far in every chunk, so only the newest counts.
func (c *call) response(ctx context.Context, req *model.LLMRequest, resp *model.LLMResponse) {
	if resp == nil {
		return
	}
	c.answered = true
	if resp.Partial {
		if resp.UsageMetadata != nil || c.last == nil || c.last.UsageMetadata == nil {
			c.last = resp
		}
		return
	}
	c.g.rounds.begin(c.who)
	c.settle(ctx, req, resp)
}

// end ends a call. If no complete response has come, it is charged with what was seen of it: a stream that its
// consumer leaves is paid for. A call that has failed without any usage costs nothing.
func (c *call) end(ctx context.Context, req *model.LLMRequest, failed bool) {
	switch {
	case c.settled:
	case c.last != nil && (!failed || c.last.UsageMetadata != nil):
		c.settle(ctx, req, c.last)
	default:
		c.release(ctx)
	}
}

// release ends a call that has used nothing.
func (c *call) release(ctx context.Context) {
	c.settled = true
	c.g.tripped(ctx, c.who, c.payer, c.ticket.Release(c.g.cfg.Now()))
}

// settle charges the call with the usage of a response.
func (c *call) settle(ctx context.Context, req *model.LLMRequest, resp *model.LLMResponse) {
	usage := billed(resp.UsageMetadata)
	if usage == (tokens.Usage{}) {
		if c.settled {
			return // another response of a call that is charged already
		}
		if resp.ErrorCode != "" && resp.Content == nil {
			c.release(ctx)
			return
		}
		usage = estimated(req, resp)
		c.unmetered(ctx, "the model reports no usage: estimated tokens are charged")
	}
	amount, priced := c.g.amount(c.model, usage)
	c.settled = true
	s := c.ticket.Settle(c.g.cfg.Now(), c.model, amount, !priced)
	c.g.charged(ctx, c.who, c.payer, c.model, s.Charged, s)
}

// estimated is the usage of a call whose model reports none.
func estimated(req *model.LLMRequest, resp *model.LLMResponse) (u tokens.Usage) {
	defer func() { _ = recover() }() // an argument of the app's own type may panic when it is measured
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
