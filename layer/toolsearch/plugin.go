package toolsearch

import (
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// pluginName is the name of [Deferral.Plugin]. ADK refuses two plugins of one name.
const pluginName = "longsession-toolsearch"

// Plugin returns the plugin that defers tools before the callbacks of agents run, so that these see the
// declarations that are sent. Register it behind all plugins that change declarations. It does what
// [Deferral.Select] does, which then finds nothing left to do, and answers no callback.
//
// With Promote, it also serves agents whose models are not wrapped. With Bridge, calls have to be translated by
// [Deferral.Model], so the plugin leaves an agent alone until a wrapped model has sent a request of it, which
// is the agent's first in the process. Agents that run as tools have no plugins.
func (d *Deferral) Plugin() *plugin.Plugin {
	p, err := plugin.New(plugin.Config{
		Name: pluginName, BeforeRunCallback: d.beforeRun, AfterRunCallback: d.afterRun, BeforeModelCallback: d.beforeModel,
	})
	if err != nil {
		panic("toolsearch: plugin.New refuses a name and callbacks: " + err.Error()) // ADK never does
	}
	return p
}

// beforeRun keeps the session of a run: the contexts of callbacks do not have it.
func (d *Deferral) beforeRun(ctx agent.InvocationContext) (*genai.Content, error) {
	defer d.places.Survive("toolsearch: before a run") // a context of another make
	if d.cfg.Threshold != Off && !adk.IsNil(ctx.Session()) {
		d.runs.Add(ctx.InvocationID(), ctx.Session())
	}
	return nil, nil
}

// afterRun forgets the session.
func (d *Deferral) afterRun(ctx agent.InvocationContext) {
	defer d.places.Survive("toolsearch: after a run")
	d.runs.Remove(ctx.InvocationID())
}

// beforeModel defers tools in a request.
func (d *Deferral) beforeModel(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer d.places.Survive("toolsearch: before a model call")
	if d.cfg.Threshold == Off || req == nil || !d.exceeds(req, req.Model) {
		return nil, nil
	}
	s, known := d.runs.Get(ctx.InvocationID())
	if !known {
		return nil, nil // the wrapper knows the session
	}
	who := callerIn(ctx, req.Model)
	if d.cfg.Mode == Bridge && !d.wrapped.Contains(who.agentKey()) {
		return nil, nil
	}
	d.request(&outgoing{early: true, ctx: ctx, who: who, session: s, req: req})
	return nil, nil
}
