package longsession

import (
	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"

	"github.com/adk-go-ext/longsession/toolresult"
)

// addPlugins makes the plugins. Those that touch events come before the app's, because an app's plugin that
// answers hides an event from all behind it. Those that touch requests, and the one that answers, come behind
// them. The package comment has the reasons.
func (b *builder) addPlugins() error {
	if b.cfg.uses(LayerToolResults) {
		// Without a cutter it only makes the errors of unknown tools short and stable: the view cuts.
		results, err := toolresult.Plugin(toolresult.PluginConfig{})
		if err != nil {
			return err
		}
		b.before = append(b.before, results)
	}
	if b.cfg.uses(LayerBudget) {
		b.before = append(b.before, b.meter.Plugin())
	}
	if b.prompt != nil {
		b.before = appendPlugin(b.before, b.prompt.Plugin())
		b.behind = appendPlugin(b.behind, b.prompt.MessagePlugin())
	}
	if b.read != nil {
		// It is declared in front of the tools of the search, whether their plugin or the model declares those.
		if err := b.addRequestPlugin("longsession-read-result", b.declare); err != nil {
			return err
		}
	}
	if b.search != nil {
		b.behind = appendPlugin(b.behind, b.search.Plugin())
	}
	return b.addRequestPlugin("longsession-requests", b.measure)
}

// addRequestPlugin adds a plugin that touches requests, behind those that are there.
func (b *builder) addRequestPlugin(name string, before llmagent.BeforeModelCallback) error {
	p, err := plugin.New(plugin.Config{Name: name, BeforeModelCallback: before})
	if err != nil {
		return err
	}
	b.behind = append(b.behind, p)
	return nil
}

// appendPlugin appends a plugin, unless the layer has none to do its work.
func appendPlugin(plugins []*plugin.Plugin, p *plugin.Plugin) []*plugin.Plugin {
	if p == nil {
		return plugins
	}
	return append(plugins, p)
}

// declare declares read_result, for agents whose model is not that of [Stack.Model]. For the others, the wrapper
// does it again on the final request.
func (s *Stack) declare(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer func() { _ = recover() }() // a request of another make; the turn goes on without us
	toolresult.Declare(req, s.read)
	return nil, nil
}

// measure has compaction measure the request, for the same agents.
func (s *Stack) measure(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer func() { _ = recover() }()
	return s.Sessions.ObserveRequest(ctx, req)
}
