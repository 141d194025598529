package longsession

import (
	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// addPlugins makes the plugins. Those that touch events come before the app's, because an app's plugin that
// answers hides an event from all behind it. Those that touch requests, and the one that answers, come behind
// them. The package comment has the reasons.
func (b *builder) addPlugins() error {
	if b.Guard != nil {
		// It comes first: a run that is refused must leave no trace.
		b.before = appendPlugin(b.before, b.Guard.Plugin())
	}
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
	if len(b.tools) > 0 {
		// They are declared in front of the tools of the search, whether their plugin or the model declares those.
		if err := b.addRequestPlugin("longsession-tools", b.declare); err != nil {
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

// declare declares what the layers offer. For read_result, the wrapper of [Stack.Model] does it again on the final
// request.
func (s *Stack) declare(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer s.places.Survive("longsession: tools in a request") // a request of another make; the turn goes on without us
	for _, t := range s.tools {
		toolresult.Declare(req, t)
	}
	return nil, nil
}

// measure has compaction measure the request, for the same agents.
func (s *Stack) measure(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer s.places.Survive("longsession: the size of a request")
	return s.Sessions.ObserveRequest(ctx, req)
}
