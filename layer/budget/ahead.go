package budget

import (
	"reflect"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// Ahead returns an instruction provider that compacts the session before a request is built, if that request
// would be over Block. The request then has the short view at once: it need not be built again, so no
// callback runs twice. Give the result to the agent, whose model must be wrapped with [Meter.Model]:
//
//	llmagent.Config{
//		Model:               meter.Model(llm),
//		InstructionProvider: meter.Ahead(budget.Instruction("Answer in one sentence.")),
//	}
//
// The size is that of the agent's last request, and of the events that the session has got since. Where
// the meter cannot know it, the wrapper alone takes care of the request: in the first request of an agent in
// this process, and if the view has changed in between. The wrapper also still takes care of a request that
// is too large nevertheless, but does not compact the session a second time for it.
//
// Ahead does nothing in live runs, for sessions that [Config.Compactor] does not own, with [Config.Passive],
// and while a request is built again. [Config.DisableRebuild] does not turn it off. A compaction that fails,
// panics or takes longer than [Config.CompactTimeout] is reported, and the request is built without it.
//
// The instruction is provider's, and so are its errors. If provider is nil, Ahead returns nil. The result may
// be used by several agents at once.
func (m *Meter) Ahead(provider llmagent.InstructionProvider) llmagent.InstructionProvider {
	if provider == nil {
		return nil
	}
	return func(ctx agent.ReadonlyContext) (string, error) {
		compactAhead(m, ctx)
		return provider(ctx)
	}
}

// Instruction returns an instruction provider for a fixed text, for use with [Meter.Ahead]. Braces in the text
// have no meaning, unlike in llmagent.Config.Instruction. ADK sends an empty text as an empty part, which
// services may refuse.
func Instruction(text string) llmagent.InstructionProvider {
	return func(agent.ReadonlyContext) (string, error) { return text, nil }
}

// compactAhead compacts the session of a request that is about to be built, if it must.
func compactAhead(m *Meter, ctx agent.ReadonlyContext) {
	// A panic here would reach the caller of Run.
	defer m.places.Survive("budget: before an instruction")
	ic := invocationOf(ctx)
	if ic == nil || m.cfg.Compactor == nil || m.cfg.Passive || captureIn(ic) != nil || ic.RunConfig() == nil || ic.Ended() || ic.Err() != nil {
		return
	}
	c := &call{origin: origin{m: m, ctx: ic, ic: ic}}
	known := false
	if c.who, known = callerOf(ic, ""); !known {
		return
	}
	s, known := m.callers.Peek(c.who.key())
	if !known {
		return
	}
	events := ic.Session().Events()
	c.size, c.who.model = s.next(events, c.who.branch)
	if !m.blocks(c.size) {
		return
	}
	c.guard("Compactor.Owns", func() error {
		c.owned = m.cfg.Compactor.Owns(ic.Session())
		return nil
	})
	if !c.owned {
		return
	}
	s.wentAhead(c.who.invocation)
	c.req = &model.LLMRequest{Contents: contentsOf(events, 0, c.who.branch)}
	if !c.compact() {
		return
	}
	o := c.who.observation(CompactedAhead)
	o.Budget, o.Estimated = c.size.Budget, c.size.estimate()
	o.Removed = sizeOf(c.req.Contents) - sizeOf(contentsOf(ic.Session().Events(), 0, c.who.branch))
	m.observe(ic, o)
}

// invocationOf returns the invocation that a provider is called in, nil if it cannot be found. ADK keeps it in
// a field of a type that cannot be named here: see TestPinAnInstructionProviderRunsBeforeTheContents.
func invocationOf(ctx agent.ReadonlyContext) agent.InvocationContext {
	if adk.IsNil(ctx) {
		return nil
	}
	if ic := adk.Invocation(ctx); ic != nil {
		return ic
	}
	v := reflect.Indirect(reflect.ValueOf(ctx))
	if v.Kind() != reflect.Struct {
		return nil
	}
	field := v.FieldByName("InvocationContext")
	if !field.IsValid() || !field.CanInterface() {
		return nil
	}
	ic, _ := field.Interface().(agent.InvocationContext)
	if adk.IsNil(ic) {
		return nil
	}
	return ic
}

// viewMark is how far a session's view reached when a request was sent.
type viewMark struct {
	events int
	last   string // ID of the last of them
}

// mark remembers what the view holds as a request is sent. The request was just built from it. Last resorts
// are for this request only: the next one is built from the same view.
func mark(c *call) {
	if c.ic == nil || !c.owned {
		return
	}
	events := c.ic.Session().Events()
	n := events.Len()
	if n == 0 {
		return
	}
	s := c.m.stateOf(c.who)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.view = viewMark{n, events.At(n - 1).ID}
	s.last.model, s.last.contents = c.who.model, c.whole
}

// next is the size that the next request of an agent will have, as far as it is known, and its model. The
// zero value is not over Block.
func (s *state) next(events session.Events, branch string) (got measured, model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = ""
	last := s.last
	n := last.view.events
	if n == 0 || events.Len() < n || events.At(n-1).ID != last.view.last {
		return measured{}, last.model
	}
	got = measured{Budget: last.budget, fixed: last.fixed}
	got.contents = last.contents + sizeOf(contentsOf(events, n, branch))
	_, got.atMost, got.atLeast = s.calibration.expect(last.model, got.estimate())
	return got, last.model
}

// wentAhead notes that the session was compacted for the next request of an invocation.
func (s *state) wentAhead(invocation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = invocation
}

// tookAhead reports whether the session was compacted for the request that an invocation sends now.
func (s *state) tookAhead(invocation string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	went := s.ahead != "" && s.ahead == invocation
	s.ahead = ""
	return went
}

// contentsOf returns the contents that an agent in a branch is shown of a view, from an event on.
func contentsOf(events session.Events, from int, branch string) []*genai.Content {
	var contents []*genai.Content
	for i := from; i < events.Len(); i++ {
		if ev := events.At(i); ev != nil && ev.Content != nil && !ev.Partial && adk.Visible(branch, adk.Lane(ev)) {
			contents = append(contents, ev.Content)
		}
	}
	return contents
}

// sizeOf is the estimate of contents.
func sizeOf(contents []*genai.Content) (size int) {
	for _, c := range contents {
		size += promptsize.OfContent(c)
	}
	return size
}
