package main

import (
	"github.com/achetronic/adk-utils-go/plugin/contextguard"

	"google.golang.org/adk/session"
)

// agentName is the agent's name in package replay. contextguard finds the agent by it.
const agentName = "agent"

// guarded is contextguard set up as in its README: one guard for the agent, with summaries by the
// agent's own model, and a registry that knows the window.
func guarded(opts ...contextguard.AgentOption) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, writer *oracle, window int) (app, error) {
		guard := contextguard.New(registry(window))
		guard.Add(agentName, writer, opts...)
		return app{service: base, plugins: guard.PluginConfig().Plugins}, nil
	}
}

var _ contextguard.ModelRegistry = registry(0)

// registry returns the same window for every model.
type registry int

// ContextWindow implements [contextguard.ModelRegistry].
func (r registry) ContextWindow(string) int { return int(r) }

// DefaultMaxTokens implements [contextguard.ModelRegistry]. The guard does not call it.
func (r registry) DefaultMaxTokens(string) int { return 4096 }
