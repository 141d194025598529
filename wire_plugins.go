package longsession

import (
	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"

	"github.com/adk-go-ext/longsession/toolresult"
)

// addPlugins makes the plugins. Those that touch events come before the app's, because an app's plugin that
// answers hides an event from all behind it. The one that measures requests comes behind them.
func (s *Stack) addPlugins(cfg *Config) error {
	if cfg.uses(LayerToolResults) {
		// Without a cutter it only makes the errors of unknown tools short and stable: the view cuts.
		results, err := toolresult.Plugin(toolresult.PluginConfig{})
		if err != nil {
			return err
		}
		s.before = append(s.before, results)
	}
	if cfg.uses(LayerBudget) {
		s.before = append(s.before, s.meter.Plugin())
	}
	measure, err := plugin.New(plugin.Config{Name: "longsession-requests", BeforeModelCallback: s.beforeModel})
	if err != nil {
		return err
	}
	s.behind = append(s.behind, measure)
	return nil
}

// beforeModel declares read_result and measures the request, for agents whose model is not that of
// [Stack.Model]. For the others, the wrapper does both again on the final request.
func (s *Stack) beforeModel(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer func() { _ = recover() }() // a request of another make; the turn goes on without us
	if s.read != nil {
		toolresult.Declare(req, s.read)
	}
	return s.Sessions.ObserveRequest(ctx, req)
}
