package budget

import (
	"slices"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// lastResorts masks all results but the newest, drops old rounds, shortens what is large, and lowers the
// reserve for the reply, as long as the request does not fit.
func (c *call) lastResorts(fits func() bool) {
	if fits() {
		return
	}
	c.maskAll()
	if fits() {
		return
	}
	if contents := c.req.Contents; !c.drop(fits) {
		// What is too large is not in old rounds alone, so they need not all go.
		c.req.Contents = contents
		c.size = c.m.measure(c.who, c.req)
		if !shorten(c, fits, least) && !c.drop(fits) {
			shorten(c, fits, leastOfAll)
		}
	}
	if !fits() {
		c.lowerReply(c.size.atMost)
	}
}

func (c *call) maskAll() {
	if c.m.cfg.Masker == nil {
		return
	}
	if !c.adks {
		c.req.Contents = withOwnResponses(c.req.Contents)
	}
	before := c.size
	c.guard("masking", func() error {
		c.noteMasked(c.m.cfg.Masker.ApplyAll(c.req, c.put))
		return nil
	})
	if c.size.UsedTokens() < before.UsedTokens() {
		c.did |= didMaskAll
		c.note(Masked, "masked", before)
	}
}

// withOwnResponses copies contents as far as their function responses, which a masker changes.
func withOwnResponses(contents []*genai.Content) []*genai.Content {
	out := slices.Clone(contents)
	for i, content := range out {
		if content == nil {
			continue
		}
		clone := *content
		clone.Parts = slices.Clone(content.Parts)
		for k, part := range clone.Parts {
			if part != nil && part.FunctionResponse != nil {
				own, response := *part, *part.FunctionResponse
				own.FunctionResponse = &response
				clone.Parts[k] = &own
			}
		}
		out[i] = &clone
	}
	return out
}

// drop leaves old rounds out, and reports whether the request fits without them.
func (c *call) drop(fits func() bool) bool {
	before := c.size
	c.guard("dropping", func() error {
		toolresult.Drop(c.req, func() bool {
			c.size = c.m.measure(c.who, c.req)
			return fits()
		})
		return nil
	})
	c.size = c.m.measure(c.who, c.req)
	if c.size.UsedTokens() < before.UsedTokens() && fits() {
		c.did |= didDrop
		c.note(Dropped, "dropped", before)
	}
	return fits()
}

// minReply is the shortest reply that a request is left with, in tokens. With less, the reply itself would
// be cut.
const minReply = 256

// lowerReply lowers the longest reply that a request asks for to what a prompt of that size leaves of the
// window. It reports whether that was possible.
func (c *call) lowerReply(prompt int) bool {
	cfg := c.req.Config
	if cfg == nil || cfg.MaxOutputTokens <= 0 {
		return false
	}
	free := c.size.Total - prompt
	if free < minReply || free >= int(cfg.MaxOutputTokens) {
		return false
	}
	o := c.who.observation(ReplyLowered)
	o.Removed = int(cfg.MaxOutputTokens) - free
	lowered := *cfg // the agent's own config may be shared
	lowered.MaxOutputTokens = int32(free)
	c.req.Config = &lowered
	c.size = c.m.measure(c.who, c.req)
	o.Budget = c.size.Budget
	c.tried = append(c.tried, "reply")
	c.m.observe(c.ctx, o)
	return true
}

// impossible returns an error for a request that would be refused in any case: going by the provider's own
// counts it exceeds the window at the least, or one part of it, or its instruction and tools, are larger
// than the window. If the window is only assumed, it returns nil.
func (c *call) impossible() error {
	if c.m.windows.Of(c.who.model).Assumed || c.size.atMost <= c.size.Total {
		return nil
	}
	largest := largestParts(c.req)
	reason := ""
	switch {
	case len(largest) > 0 && max(largest[0].Tokens, c.size.fixed) > c.size.Total:
		reason = "one part alone is larger than the window"
	case c.size.atLeast > c.size.Total:
		reason = "the parts that must be sent are larger than the window"
	default:
		return nil
	}
	err := c.overflowError(nil, largest)
	o := c.who.observation(Refused)
	o.Budget, o.Err, o.Reason = c.size.Budget, err, reason
	c.m.observe(c.ctx, o)
	return err
}
