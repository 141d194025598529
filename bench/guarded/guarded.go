// Package guarded sets the plugin contextguard of github.com/achetronic/adk-utils-go up as its README does, for the
// commands that compare this module with it.
package guarded

import (
	"github.com/achetronic/adk-utils-go/plugin/contextguard"

	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
)

// Plugins returns one guard for the agents of those names, with summaries by writer, and a registry that knows the
// context window, in tokens. contextguard logs each of its steps to the default logger.
func Plugins(agents []string, writer model.LLM, window int, opts ...contextguard.AgentOption) []*plugin.Plugin {
	guard := contextguard.New(Registry(window))
	for _, agent := range agents {
		guard.Add(agent, writer, opts...)
	}
	return guard.PluginConfig().Plugins
}

var _ contextguard.ModelRegistry = Registry(0)

// Registry returns the same context window for every model.
type Registry int

// ContextWindow implements [contextguard.ModelRegistry].
func (r Registry) ContextWindow(string) int { return int(r) }

// DefaultMaxTokens implements [contextguard.ModelRegistry]. The guard does not call it.
func (r Registry) DefaultMaxTokens(string) int { return 4096 }
