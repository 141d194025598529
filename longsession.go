package longsession

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// Stack is every layer of the module over one session service. It is safe for concurrent use, and one
// stack serves any number of agents and runners.
type Stack struct {
	// Sessions is the session service for runners, launchers and all other code that would use the
	// inner one.
	Sessions *compaction.CompactionSessionService

	plugins []*plugin.Plugin
}

// New puts the layers over inner. It returns an error if the config contradicts itself, or if inner
// is nil or already has a layer of this module; it then starts nothing. Errors of a layer's
// settings wrap that layer's typed error, such as [compaction.ConfigError].
func New(inner session.Service, cfg Config) (*Stack, error) {
	if cfg.Model != nil && adk.IsNil(cfg.Model) {
		return nil, fmt.Errorf("longsession config: Model holds a nil %T, and every call would panic: set a model or leave the field out", cfg.Model)
	}
	sessions, err := compaction.NewCompactionService(inner, cfg.compaction())
	if err != nil {
		return nil, fmt.Errorf("longsession: %w", err)
	}
	measure, err := plugin.New(plugin.Config{
		Name:                "longsession",
		BeforeModelCallback: sessions.ObserveRequest,
	})
	if err != nil {
		return nil, fmt.Errorf("longsession: %w", err)
	}
	return &Stack{Sessions: sessions, plugins: []*plugin.Plugin{measure}}, nil
}

// PluginConfig returns the plugins of a runner: the app's own in their order, then those of the
// layers. Use it as runner.Config.PluginConfig or launcher.Config.PluginConfig. ADK calls plugins
// in order, and skips the rest once one of them answers in place of the model.
func (s *Stack) PluginConfig(own ...*plugin.Plugin) runner.PluginConfig {
	return runner.PluginConfig{Plugins: slices.Concat(own, s.plugins)}
}

// Model wraps llm in the layers that must see every call and every error of the provider. Give the
// result to the agent. In this version no layer does, so Model returns llm itself.
func (s *Stack) Model(llm model.LLM) model.LLM { return llm }

// Tools returns the tools that layers offer to the agent, to be appended to the agent's own. No layer
// of this version offers a tool, so Tools returns nil.
func (s *Stack) Tools() []tool.Tool { return nil }

// Close waits for the work of all layers and stores waiting summaries. Call it after the last
// runner has returned, and before the inner session service is closed. If ctx ends first, the work
// is canceled and Close returns the context's error. A second Close does nothing.
func (s *Stack) Close(ctx context.Context) error { return s.Sessions.Close(ctx) }
