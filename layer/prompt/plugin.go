package prompt

import (
	"weak"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
)

// The names of the plugins. ADK refuses two plugins of one name.
const (
	pluginName        = "longsession-prompt"
	messagePluginName = "longsession-prompt-message"
)

// Plugin returns the plugin that asks the sources once per run, before any agent starts, and puts the sections
// into each request, so that the app's own callbacks see the instruction as it will be sent. It also writes the
// scratchpad and the status into tool results. Put it before the app's own plugins: ADK calls no plugin behind
// one that answers. It answers no callback itself.
//
// It returns nil if the builder has no sections.
func (b *Builder) Plugin() *plugin.Plugin {
	if !b.has(0, numSources) {
		return nil
	}
	cfg := plugin.Config{Name: pluginName}
	if b.has(0, stable) {
		cfg.BeforeRunCallback, cfg.BeforeModelCallback, cfg.AfterRunCallback = b.beforeRun, b.beforeModel, b.afterRun
	}
	if b.has(stable, numSources) {
		cfg.OnEventCallback = b.onEvent
	}
	return newPlugin(cfg)
}

// MessagePlugin returns the plugin that puts the scratchpad and the status behind the user's message, for the
// first step of a turn. Put it behind the app's own plugins: it must answer ADK with a changed message, and ADK
// calls none behind it. If a plugin of the app answers before, the message stays as that one has made it. It adds
// nothing in an app with a workflow of ADK v2, whose input the message is.
//
// It returns nil if the builder has neither a scratchpad nor a status.
func (b *Builder) MessagePlugin() *plugin.Plugin {
	if !b.has(stable, numSources) {
		return nil
	}
	return newPlugin(plugin.Config{Name: messagePluginName, OnUserMessageCallback: b.onUserMessage})
}

func newPlugin(cfg plugin.Config) *plugin.Plugin {
	p, err := plugin.New(cfg)
	if err != nil {
		panic("prompt: plugin.New refuses a name and callbacks: " + err.Error()) // ADK never does
	}
	return p
}

// beforeRun asks the sources for the texts of a run.
func (b *Builder) beforeRun(ctx agent.InvocationContext) (*genai.Content, error) {
	// A panic here would reach the caller of Run.
	defer b.places.Survive("prompt: before a run")
	if ctx.RunConfig() == nil {
		return nil, nil // a live run, whose requests no callback sees
	}
	read := runContext{ctx}
	if who, known := callerIn(read); known {
		b.textsFor(read, who)
	}
	return nil, nil
}

// afterRun forgets the texts of a run.
func (b *Builder) afterRun(ctx agent.InvocationContext) {
	defer b.places.Survive("prompt: after a run")
	if who, known := callerIn(runContext{ctx}); known {
		b.runs.Remove(runKey{who.owner, who.invocation})
	}
}

// beforeModel puts the sections into a request, and notes that it has them. Callbacks of the app may change
// them afterwards.
func (b *Builder) beforeModel(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer b.places.Survive("prompt: before a model call")
	who, known := callerIn(ctx)
	if !known || req == nil {
		return nil, nil
	}
	texts := b.textsFor(ctx, who)
	texts.addTo(req)
	b.look(ctx, who, req, texts, byPlugin)
	b.requests.Add(weak.Make(req), struct{}{})
	return nil, nil
}
