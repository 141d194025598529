package budget

import (
	"context"
	"errors"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// underwayKey holds the request that a meter is sending, so that a second meter around the same model leaves
// it alone: together they would send it four times.
type underwayKey struct{}

// passesThrough reports whether an outer meter takes care of a request.
func passesThrough(ctx context.Context, req *model.LLMRequest) bool {
	underway, _ := ctx.Value(underwayKey{}).(*model.LLMRequest)
	return underway == req
}

// inner is the context for the inner model.
func (c *call) inner() context.Context {
	return wrapper.WithValue(c.ctx, underwayKey{}, c.req)
}

// send calls the model. If it refuses the request as too long before its first response, the request is
// made smaller and sent once more.
func (c *call) send(stream bool, yield func(*model.LLMResponse, error) bool) {
	r := c.once(stream, yield)
	if r != nil && c.shrink(r.numbers) {
		r = c.once(stream, yield)
	}
	if r != nil {
		r.yield(c, yield)
	}
}

// refused is how a model refuses a request: with an error, or with a response that has an error code.
type refused struct {
	err     error
	resp    *model.LLMResponse
	numbers refusal
}

// yield ends the call with a refusal. A response with an error code is passed on as it is.
func (r *refused) yield(c *call, yield func(*model.LLMResponse, error) bool) {
	if r.err == nil {
		yield(r.resp, nil)
		return
	}
	yield(r.resp, c.overflowError(r, largestParts(c.req)))
}

// once calls the model once. It returns a refusal instead of yielding it.
func (c *call) once(stream bool, yield func(*model.LLMResponse, error) bool) *refused {
	c.guard("measuring", func() error {
		c.m.sent(c.ctx, c.who, c.size, c.did)
		mark(c)
		return nil
	})
	var a answer
	begun, failed := false, false
	defer func() {
		if begun && !failed {
			c.guard("measuring", func() error {
				c.m.reported(c.ctx, c.who, c.size, a)
				return nil
			})
		}
	}()
	for resp, err := range c.w.inner.GenerateContent(c.inner(), c.req, stream) {
		if !begun && !c.m.cfg.Passive {
			if r := c.refusalIn(resp, err); r != nil {
				return r
			}
		}
		begun, failed = true, failed || err != nil
		if resp != nil {
			a.add(resp)
		}
		if !yield(resp, err) {
			return nil
		}
	}
	return nil
}

// refusalIn returns how the model refuses the request as too long, nil if it does not.
func (c *call) refusalIn(resp *model.LLMResponse, err error) *refused {
	text := ""
	switch {
	case err != nil:
		if !c.isOverflow(err) {
			return nil
		}
		text = err.Error()
	case resp == nil || resp.ErrorCode == "" || resp.Content != nil || !isOverflowText(resp.ErrorCode+" "+resp.ErrorMessage):
		return nil
	default:
		text = resp.ErrorMessage
	}
	r := &refused{err: err, resp: resp, numbers: readRefusal(text)}
	o := c.who.observation(Refused)
	o.Budget, o.Err, o.Counted, o.Estimated = c.size.Budget, err, r.numbers.prompt, c.size.estimate()
	if err == nil {
		o.Err = errors.New(resp.ErrorCode + ": " + resp.ErrorMessage)
	}
	c.m.observe(c.ctx, o)
	if w := c.m.windows.Of(c.who.model); r.numbers.limit > 0 && (w.Assumed || r.numbers.limit < w.Total) {
		c.m.windows.Learn(c.who.model, r.numbers.limit)
	}
	return r
}

// isOverflow asks the table and the app. An app's function that panics knows nothing.
func (c *call) isOverflow(err error) (is bool) {
	if IsOverflow(err) {
		return true
	}
	if c.m.cfg.Overflow == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	c.guard("Config.Overflow", func() error {
		is = c.m.cfg.Overflow(err)
		return nil
	})
	return is
}

const (
	// minProgress is by how much a request must become smaller to be sent again after a refusal: a
	// twentieth.
	minProgress = 20
	// unknownExcess is by how much a request is made smaller if the refusal does not say how much is
	// too much: a quarter.
	unknownExcess = 4
)

// shrink makes a refused request smaller, and reports whether it is worth sending again.
func (c *call) shrink(r refusal) bool {
	if r.onlyReply() && c.lowerReply(r.prompt) {
		return true
	}
	before := c.size.estimate()
	target := c.target(r, before)
	c.rebuild()
	c.lastResorts(func() bool { return c.size.estimate() <= target })
	return c.size.estimate() < before && c.size.estimate() <= before-before/minProgress
}

// target is the estimate that the next request must not exceed. The service's own count shows by how much
// estimates are wrong.
func (c *call) target(r refusal, before int) int {
	target := before - before/unknownExcess
	if r.limit > 0 {
		room := max(1, r.limit-c.m.budgetOf(c.who.model, c.req).MaxOutputTokens)
		counted := max(r.prompt, r.limit)
		target = int(float64(before) * float64(room) / float64(counted))
		target -= target / minProgress // contents are not all misjudged alike
	}
	return min(target, before-before/minProgress)
}
