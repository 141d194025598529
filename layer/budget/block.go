package budget

import (
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/window"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// call is one request on its way through the wrapper.
type call struct {
	origin
	w *metered
	// owned is true if the session can be compacted. Its results are readable from storage, so put stores
	// only those that a callback has changed.
	owned bool
	put   func(tool string, r store.Result) error
	// adks is true if ADK has built the request for an agent: its contents are those of the session, and
	// ADK runs the tools that it declares. An app's own request may have contents that the app keeps.
	adks bool
	// readable is true if the model can call read_result as soon as there is something to read.
	readable bool

	req       *model.LLMRequest
	size      measured // of req
	whole     int      // estimate of the contents of req before last resorts
	masked    int      // tokens that masking took out of req
	compacted bool     // the session was compacted for this request, or that was tried
	did       actions
	tried     []string // for an OverflowError
}

// identify finds out who sends the request, and where its session is kept.
func (c *call) identify() {
	name := window.ModelOf(c.w.inner.Name(), c.req)
	known := false
	if c.who, known = callerOf(c.ctx, name); !known {
		return
	}
	c.who.sections = c.m.cfg.sectionsIn(c.ctx, &c.m.places)
	c.ic = adk.Invocation(c.ctx)
	if c.adks = !adk.IsCustom(c.ic.Agent()); !c.adks {
		return
	}
	if c.m.cfg.Compactor != nil {
		c.guard("Compactor.Owns", func() error {
			c.owned = c.m.cfg.Compactor.Owns(c.ic.Session())
			return nil
		})
	}
	c.compacted = c.m.stateOf(c.who).tookAhead(c.who.invocation)
	switch {
	case c.m.cfg.Store == nil:
	case c.owned:
		c.put = c.m.foreign.changedPutter(c)
	default:
		c.put = c.m.foreign.putter(c)
	}
}

// prepare makes a request ready to be sent. It returns an error only if the request cannot fit.
func (c *call) prepare() error {
	c.identify()
	c.shape()
	if c.m.cfg.Passive || !c.m.blocks(c.size) {
		c.report()
		return nil
	}
	o := c.who.observation(Blocked)
	o.Budget = c.size.Budget
	c.m.observe(c.ctx, o)
	if !c.rebuild() {
		c.report()
	}
	c.lastResorts(func() bool { return !c.m.blocks(c.size) })
	return c.impossible()
}

// shape does what is done to every request, and measures it. Results are not shortened where the model
// could not read them whole.
func (c *call) shape() {
	c.masked = 0
	if c.declare() {
		c.cut()
		if c.m.cfg.Masker != nil {
			c.guard("masking", func() error {
				done := c.m.cfg.Masker.Apply(c.req, c.m.room(c.who, c.req), c.put)
				c.masked = done.Tokens // all that is masked in the request, however long ago
				return done.Err
			})
		}
	}
	c.declare() // what has just been shortened may be all that there is to read
	c.size = c.m.measure(c.who, c.req)
	c.whole = c.size.contents
}

// declare puts read_result into the request, if there may be something to read. It reports whether results may be
// shortened in it.
func (c *call) declare() (readable bool) {
	if !c.adks || c.m.cfg.ReadResult == nil {
		return c.adks
	}
	c.guard("declaring read_result", func() error {
		readable = adk.Takes(c.req, c.m.cfg.ReadResult)
		adk.Declare(c.req, c.m.cfg.ReadResult)
		return nil
	})
	c.readable = readable
	return readable
}

// noteMasked measures a request again if results were masked in it.
func (c *call) noteMasked(done toolresult.Masked) {
	if done.Err != nil {
		c.failed("masking", done.Err)
	}
	if done.Results > 0 {
		c.masked = done.Tokens // all that is masked in the request, however long ago
		c.declare()
		c.size = c.m.measure(c.who, c.req)
	}
}

// report tells the compaction service what the request holds. A request that is about to lose tool rounds
// is reported with them, so that the service compacts the session after this turn.
func (c *call) report() {
	if to, ok := c.m.cfg.Compactor.(sentObserver); ok && c.owned {
		c.guard("Compactor.ObserveSent", func() error {
			to.ObserveSent(c.ic, c.req, c.masked)
			return nil
		})
	}
}

// note records a step that made the request smaller.
func (c *call) note(kind Kind, step string, before measured) {
	c.tried = append(c.tried, step)
	o := c.who.observation(kind)
	o.Budget = c.size.Budget
	o.Removed = before.UsedTokens() - c.size.UsedTokens()
	c.m.observe(c.ctx, o)
}
