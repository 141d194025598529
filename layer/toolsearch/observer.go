package toolsearch

import (
	"context"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

// Kind is what an [Observation] is about.
type Kind string

const (
	// Deferred: the set of deferred tools of an agent has changed. Tools, Deferred, TokensBefore and
	// TokensAfter have the sizes. It comes with the first request in which tools are deferred, and then
	// only if the set is another one, also if that is empty. An epoch changes no set that stays the same.
	Deferred Kind = "deferred"
	// Searched: the model has searched for tools. Hits has what it found.
	Searched Kind = "searched"
	// NameTaken: the app has a tool of its own named tool_search or tool_call, so nothing is deferred for the
	// agent. Reported once for each agent.
	NameTaken Kind = "name taken"
	// Failed: something that the package calls has failed or panicked, or a request could not be handled.
	// Reason says which; the request goes on as it was.
	Failed Kind = "failed"
)

// Observation is one thing that happened. Fields that do not apply are zero.
//
// Config.Observer gets them one at a time, in the order in which things happened. They come from a
// goroutine of the [Deferral], a little later, so an observer that blocks, hangs or panics harms no turn. Up
// to 1,024 observations wait for it; those beyond are lost, and counted in [Observation.Missed]. The
// context has the values of the model call's, and is never canceled. [Deferral.Flush] waits for the observer.
type Observation struct {
	Kind          Kind
	Session       store.Owner // empty for a model call outside of any session
	Agent, Branch string
	InvocationID  string
	Model         string

	// Toolset is the name of a toolset, for observations of a Group.
	Toolset string
	// Tools is how many tools the agent declares by itself, or the toolset has.
	Tools int
	// Deferred is how many declarations were taken away. TokensBefore and TokensAfter are the estimated
	// sizes of all declarations, without deferral and as they are sent.
	Deferred                  int
	TokensBefore, TokensAfter int
	// Hits names the tools that a search has found, best first. QueryBytes is the length of its query.
	Hits       []string
	QueryBytes int

	// Usage is what the provider reported for an attempt whose answer was discarded.
	Usage tokens.Usage

	Reason string
	Err    error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

// observe passes an observation on to the observer. It never waits.
func (d *Deferral) observe(ctx context.Context, o Observation) {
	if d.cfg.Observer != nil {
		d.outbox.Send(ctx, o, d.cfg.deliver)
	}
}

func (c *Config) deliver(ctx context.Context, o Observation, missed int) {
	o.Missed = missed
	c.Observer(ctx, o)
}

// Flush waits until the observer has received all observations so far. It returns only the context's
// error.
func (d *Deferral) Flush(ctx context.Context) error { return d.outbox.Flush(ctx) }

// caller is who makes a model call.
type caller struct {
	session                          store.Owner
	agent, branch, invocation, model string
}

// callerOf finds out from the context of a model call who makes it. The context is nil if it is not that of
// an agent's run, as when an app calls a model by itself; then only the model is known.
func callerOf(ctx context.Context, model string) (c caller, ic agent.InvocationContext) {
	c.model = model
	defer survive.Else("toolsearch: who calls the model", func() { c, ic = caller{model: model}, nil }) // a context of another make may panic where it has no session
	found := adk.Invocation(ctx)
	if found == nil || adk.IsNil(found.Session()) || adk.IsNil(found.Agent()) {
		return c, nil
	}
	s := found.Session()
	c.session = adk.RefOf(s)
	c.agent, c.branch, c.invocation = found.Agent().Name(), adk.LaneOf(found), found.InvocationID()
	return c, found
}

// callerIn returns for whom a callback or a tool runs.
func callerIn(ctx agent.ReadonlyContext, model string) caller {
	return caller{
		session: store.Owner{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()},
		agent:   ctx.AgentName(), branch: adk.ContextLane(ctx), invocation: ctx.InvocationID(), model: model,
	}
}

// observation is an observation about a caller.
func (c caller) observation(kind Kind) Observation {
	return Observation{
		Kind: kind, Session: c.session, Agent: c.agent, Branch: c.branch, InvocationID: c.invocation, Model: c.model,
	}
}
