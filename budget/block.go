package budget

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/toolresult"
	"github.com/adk-go-ext/longsession/toolresult/store"
)

// Compactor summarizes a session: normally a [compaction.CompactionSessionService]. It may fail, panic or
// hang; the meter gives a call up after [Config.CompactTimeout].
type Compactor interface {
	Compact(ctx context.Context, ref compaction.SessionRef, opts compaction.CompactOptions) (compaction.CompactResult, error)
	// Owns reports whether the session of a running agent is one that Compact can compact, so that
	// the agent's next request shows the summary.
	Owns(sess session.Session) bool
}

// sentObserver is a Compactor that wants to know what was really sent.
type sentObserver interface {
	ObserveSent(ctx agent.InvocationContext, req *model.LLMRequest, masked int)
}

// Kinds of observations about requests that were too large.
const (
	// Blocked: a request is over Block. Budget has its size before anything was done about it.
	Blocked Kind = "blocked"
	// Rebuilt: the session was compacted and the request built again. Removed is by how many
	// estimated tokens it became smaller.
	Rebuilt Kind = "rebuilt"
	// Masked: as a last resort, all results but those of the newest round were masked. Removed has
	// the tokens. A usual batch is reported as PrefixBroken, with CauseMasked.
	Masked Kind = "masked"
	// Dropped: tool rounds were dropped from the request. Removed has the tokens.
	Dropped Kind = "dropped"
	// ReplyLowered: the request asked for a longer reply than the window has room for. Its
	// MaxOutputTokens was lowered; Removed is by how much.
	ReplyLowered Kind = "reply lowered"
	// Refused: the model refused a request as too long. Err is its error. If another Refused of the
	// same request follows, the turn ends with an [*OverflowError]. If Err is an [*OverflowError]
	// itself, the request was not sent, because one part of it is larger than the window.
	Refused Kind = "refused"
	// Failed: something that the meter calls has failed, panicked or hung: the compactor, the
	// masker, a store. Reason says which; the request goes on without it.
	Failed Kind = "failed"
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
	name := modelOf(c.w.inner.Name(), c.req)
	known := false
	if c.who, known = callerOf(c.ctx, name); !known {
		return
	}
	c.ic, _ = c.ctx.(agent.InvocationContext)
	if c.adks = !isCustom(c.ic.Agent()); !c.adks {
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

// customType is the type of agents with a Run function of the app's own: see
// TestPinACustomAgentIsOfAnotherTypeThanOneWithAModel.
var customType = func() reflect.Type {
	custom, err := agent.New(agent.Config{Name: "custom"})
	if err != nil {
		panic("budget: agent.New refuses a name: " + err.Error()) // ADK never does
	}
	return reflect.TypeOf(custom)
}()

// isCustom reports whether the app itself has written what an agent does.
func isCustom(a agent.Agent) bool { return reflect.TypeOf(a) == customType }

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
	c.size = c.m.measure(c.who, c.req)
	c.whole = c.size.contents
}

// declare puts read_result into the request. It reports whether results may be shortened in it.
func (c *call) declare() (readable bool) {
	if !c.adks || c.m.cfg.ReadResult == nil {
		return c.adks
	}
	c.guard("declaring read_result", func() error {
		readable = toolresult.Declare(c.req, c.m.cfg.ReadResult)
		return nil
	})
	return readable
}

// noteMasked measures a request again if results were masked in it.
func (c *call) noteMasked(done toolresult.Masked) {
	if done.Err != nil {
		c.failed("masking", done.Err)
	}
	if done.Results > 0 {
		c.masked = done.Tokens // all that is masked in the request, however long ago
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

// rebuild compacts the session and builds the request again. It does so at most once per request, and
// takes the new request only if it is smaller. It reports whether it has.
func (c *call) rebuild() bool {
	if !c.owned || c.compacted || c.m.cfg.DisableRebuild {
		return false
	}
	c.compacted = true
	if reason := c.m.cannotRebuild(c.ic); reason != "" {
		c.failed("the request was not built again", errors.New(reason))
		return false
	}
	if !c.compact() {
		return false
	}
	var fresh *model.LLMRequest
	c.guard("building the request again", func() error {
		fresh = c.w.rebuild(c.ic)
		return nil
	})
	if fresh == nil {
		c.failed("the request was not built again", errors.New("the agent did not call its model a second time"))
		return false
	}
	before, old, masked := c.size, *c.req, c.masked
	*c.req = *fresh
	c.shape()
	if c.size.UsedTokens() >= before.UsedTokens() {
		*c.req, c.size, c.masked = old, before, masked
		return false
	}
	c.did |= didRebuild
	c.note(Rebuilt, "rebuilt", before)
	c.report()
	return true
}

// compact compacts the session, and reports whether that has changed it.
func (c *call) compact() bool {
	var result compaction.CompactResult
	// A compaction that is given up goes on, so it must not look at the call.
	compactor, ref, opts := c.m.cfg.Compactor, c.who.ref, compaction.CompactOptions{KeepEvents: c.keepEvents()}
	err := c.within(c.m.cfg.CompactTimeout, "Compactor.Compact", func(ctx context.Context) (err error) {
		result, err = compactor.Compact(ctx, ref, opts)
		return err
	})
	return err == nil && !result.Skipped
}

// How many of the newest events a compaction for one request keeps raw: the newest round and at most twenty
// events, as long as they take up no more than half of the contents, and half of what the instruction and
// the tools leave free.
const (
	minKeepEvents = 2
	maxKeepEvents = 20
)

func (c *call) keepEvents() int {
	free := min(c.size.EffectiveWindow()-c.size.fixed, c.size.contents) / 2
	kept := 0
	for i := len(c.req.Contents) - 1; i >= 0 && kept < maxKeepEvents; i-- {
		free -= promptsize.OfContent(c.req.Contents[i])
		if free < 0 && kept >= minKeepEvents {
			break
		}
		kept++
	}
	return max(minKeepEvents, kept)
}

// lastResorts masks all results but the newest, drops old rounds, and lowers the reserve for the reply, as
// long as the request does not fit.
func (c *call) lastResorts(fits func() bool) {
	if fits() {
		return
	}
	c.maskAll()
	if fits() {
		return
	}
	c.drop(fits)
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

func (c *call) drop(fits func() bool) {
	before := c.size
	c.guard("dropping", func() error {
		toolresult.Drop(c.req, func() bool {
			c.size = c.m.measure(c.who, c.req)
			return fits()
		})
		return nil
	})
	c.size = c.m.measure(c.who, c.req)
	if c.size.UsedTokens() < before.UsedTokens() {
		c.did |= didDrop
		c.note(Dropped, "dropped", before)
	}
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
	if c.m.windows.lookup(c.who.model).assumed || c.size.atMost <= c.size.Total {
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

// note records a step that made the request smaller.
func (c *call) note(kind Kind, step string, before measured) {
	c.tried = append(c.tried, step)
	o := c.who.observation(kind)
	o.Budget = c.size.Budget
	o.Removed = before.UsedTokens() - c.size.UsedTokens()
	c.m.observe(c.ctx, o)
}
