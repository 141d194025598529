package guard

import (
	"context"
	"maps"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// PluginName is the name of [Guard.Plugin]. ADK refuses two plugins of one name.
const PluginName = "longsession-guard"

// Plugin returns the plugin that stores a session's totals with its events, refuses the next run of a session
// that is stopped, refuses model calls at a bound, keeps tools from running after it, and tells the model how
// much is left. It must be the first plugin of the runner: a plugin in front of it that answers a callback
// hides it.
//
// Calls of a model without [Guard.Model] are counted by the plugin, but for those of agents that run as tools,
// which ADK shows to no plugin.
func (g *Guard) Plugin() *plugin.Plugin {
	h := hooks{g}
	p, err := plugin.New(plugin.Config{
		Name:                  PluginName,
		OnUserMessageCallback: h.onUserMessage,
		BeforeRunCallback:     h.beforeRun,
		AfterRunCallback:      h.afterRun,
		AfterAgentCallback:    h.afterAgent,
		OnEventCallback:       h.onEvent,
		BeforeModelCallback:   h.beforeModel,
		AfterModelCallback:    h.afterModel,
		OnModelErrorCallback:  h.onModelError,
		BeforeToolCallback:    h.beforeTool,
	})
	if err != nil {
		panic("guard: plugin.New refuses a name and callbacks: " + err.Error()) // ADK never does
	}
	return p
}

// hooks are a guard's callbacks.
type hooks struct{ *Guard }

// begin begins a turn, with what is stored of its session.
func (g hooks) begin(ctx agent.InvocationContext) (who caller, p ledger.Payer, ok bool) {
	who, _, ok = callerOf(ctx)
	if !ok {
		return who, p, false
	}
	if child := g.childOf(ctx); child != nil {
		p, _ = g.payerOf(ctx, who, nil)
		return who, p, true
	}
	account, _ := g.sessions.of(who.ref, true)
	if !account.Runs(who.invocation) {
		if isNew(ctx.Session()) {
			account = g.sessions.renew(who.ref)
		}
		g.load(ctx, account, ctx.Session())
		account.Forget(who.invocation)
	}
	p, _ = account.Begin(who.invocation, g.cfg.Now())
	return who, p, true
}

// onUserMessage refuses a run before the message is stored.
func (g hooks) onUserMessage(ctx agent.InvocationContext, _ *genai.Content) (*genai.Content, error) {
	who, p, ok := g.begin(ctx)
	if !ok {
		return nil, nil
	}
	p.Await() // if the message cannot be stored, neither beforeRun nor afterRun is called
	if g.cfg.OnStop == AsEvent {
		return nil, nil // the first model call is refused
	}
	stop := p.Stopped(g.cfg.Now())
	if stop == nil {
		return nil, nil
	}
	p.End(g.cfg.Now()) // the run ends here, without a call of afterRun
	o := who.observation(Refused, p)
	o.Stop = stopError(stop)
	o.Err = o.Stop
	g.observe(ctx, o)
	return nil, o.Stop
}

// beforeRun begins the turn of a run without a message of the user.
func (g hooks) beforeRun(ctx agent.InvocationContext) (*genai.Content, error) {
	if who, p, ok := g.begin(ctx); ok {
		p.Start(g.cfg.Now())
		g.rounds.start(who)
	}
	return nil, nil
}

func (g hooks) afterRun(ctx agent.InvocationContext) {
	who, state, ok := callerOf(ctx)
	if !ok {
		return
	}
	g.pending.release(who.ref, who.invocation)
	g.rounds.forget(who)
	g.watch.end(who.invocation)
	p, known := g.payerOf(ctx, who, state)
	if !known {
		return
	}
	if account := g.stores(ctx, who); account != nil {
		account.Saw(storedText(state))
	}
	p.End(g.cfg.Now())
}

// afterAgent ends the round of an agent that has ended: everything that it has yielded is stored.
func (g hooks) afterAgent(ctx agent.CallbackContext) (*genai.Content, error) {
	if who, _, ok := callerOf(ctx); ok {
		g.rounds.end(who)
	}
	return nil, nil
}

// stores returns the account whose snapshot belongs into a session, nil if no plugin sees its runs.
func (g *Guard) stores(ctx context.Context, who caller) *ledger.Account {
	if child := g.childOf(ctx); child != nil {
		if child.ref == who.ref {
			return child.account
		}
		return nil
	}
	account, hooked := g.sessions.peek(who.ref)
	if !hooked {
		return nil
	}
	return account
}

// onEvent writes the totals and the notes into an event before it is stored.
func (g hooks) onEvent(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	if ev == nil || ev.Partial {
		return nil, nil
	}
	who, state, ok := callerOf(ctx)
	if !ok {
		return nil, nil
	}
	account := g.stores(ctx, who)
	if account == nil {
		return nil, nil
	}
	who.agent = ev.Author
	who.branch, who.scope = adk.SplitLane(adk.Lane(ev))
	g.pending.unanswered(who)
	g.rounds.event(who, ev)
	answered(account, ev)
	p, _ := g.payerOf(ctx, who, state)
	g.watched(ctx, ev, who, p)
	if ctx.RunConfig() != nil { // in a live run, another goroutine sends the event to the model
		g.note(ctx, ev, who, p)
	}
	tell(g.Guard, ev, p)
	ours := account.Saw(storedText(state))
	_, forged := ev.Actions.StateDelta[StateKey]
	if text, changed := account.Write(g.cfg.Now()); changed || forged || !ours {
		delta := maps.Clone(ev.Actions.StateDelta) // partial events of the same call share the map
		if delta == nil {
			delta = map[string]any{}
		}
		delta[StateKey] = text
		ev.Actions.StateDelta = delta
	}
	return nil, nil
}

// beforeTool keeps tools from running when the next model call would be refused.
func (g hooks) beforeTool(ctx agent.ToolContext, t tool.Tool, _ map[string]any) (map[string]any, error) {
	if adk.IsNil(t) || t.Name() == stopToolName || t.Name() == structuredTool {
		return nil, nil
	}
	who, state, ok := callerOf(ctx)
	if !ok {
		return nil, nil
	}
	p, _ := g.payerOf(ctx, who, state)
	if stop := p.Stopped(g.cfg.Now()); stop != nil {
		return notRun(Kind(stop.Kind)), nil
	}
	if account := g.stores(ctx, who); account != nil && storedText(state) == "" {
		// An agent that runs as a tool gets a copy of this state, see payerOf. A worker of ADK v2 stores no event before.
		_ = ctx.State().Set(StateKey, ledger.Encode(account.Owner(), account.State(g.cfg.Now())))
	}
	return nil, nil
}

// beforeModel reserves a call. A wrapped model adopts it.
func (g hooks) beforeModel(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	who, state, ok := callerOf(ctx)
	if !ok || req == nil {
		return nil, nil
	}
	p, _ := g.payerOf(ctx, who, state)
	c := g.pending.peek(who)
	if c != nil && c.settled { // the call before
		g.pending.adopt(who).end(ctx, c.req, false)
		c = nil
	}
	if c == nil {
		var err error
		if c, err = g.reserve(ctx, who, p, req.Model, req); err != nil {
			g.rounds.wait(ctx, who, p)
			if req.Tools == nil { // an agent without tools
				req.Tools = map[string]any{}
			}
			return g.refuse(ctx, who, p, req, err)
		}
		c.req = req
		g.pending.hold(who, c)
	}
	if c.lands {
		*req = *c.landed(req)
	}
	return nil, nil
}

// afterModel charges a call of a model that is not wrapped.
func (g hooks) afterModel(ctx agent.CallbackContext, resp *model.LLMResponse, err error) (*model.LLMResponse, error) {
	who, _, ok := callerOf(ctx)
	if !ok || resp == nil {
		return nil, nil
	}
	c := g.pending.peek(who)
	if c == nil {
		return nil, nil
	}
	c.land(ctx)
	c.response(ctx, c.req, resp) // it stays pending: usage may still come
	if c.lands {
		if out := c.withoutCalls(resp); out != resp {
			return out, nil
		}
	}
	return nil, nil
}

// onModelError ends a call that has failed.
func (g hooks) onModelError(ctx agent.CallbackContext, req *model.LLMRequest, _ error) (*model.LLMResponse, error) {
	if who, _, ok := callerOf(ctx); ok {
		if c := g.pending.adopt(who); c != nil {
			c.land(ctx)
			c.end(ctx, req, true)
		}
	}
	return nil, nil
}
