package main

import (
	"github.com/achetronic/adk-utils-go/plugin/contextguard"

	"google.golang.org/adk/session"
)

// agentName is what replay calls the agent, and what contextguard knows it by.
const agentName = "agent"

// guarded is contextguard as its README sets it up: one guard for the agent, which the agent's own model
// writes summaries for, and a registry that knows the window.
func guarded(opts ...contextguard.AgentOption) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, writer *oracle, window int) (app, error) {
		guard := contextguard.New(registry(window))
		guard.Add(agentName, writer, opts...)
		return app{service: base, plugins: guard.PluginConfig().Plugins}, nil
	}
}

var _ contextguard.ModelRegistry = registry(0)

// registry says that every model has that window.
type registry int

// ContextWindow implements [contextguard.ModelRegistry].
func (r registry) ContextWindow(string) int { return int(r) }

// DefaultMaxTokens implements [contextguard.ModelRegistry]. The guard does not ask for it.
func (r registry) DefaultMaxTokens(string) int { return 4096 }
