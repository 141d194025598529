package longsession

import (
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/tokens"
)

// Config holds what the layers share, and the settings of each layer. The zero value of a layer's
// settings is that layer with its defaults. New copies it.
type Config struct {
	// Model is the agent's model. Compaction derives the context window from its name, and has it
	// write the summaries. Required unless Compaction has a Model or a Summarizer of its own.
	Model model.LLM
	// Registry holds windows, limits and prices of models, for every layer that needs them. If nil,
	// the built-in table of package tokens is used.
	Registry *tokens.Registry
	// Compaction configures the summaries. Its own Model, AgentModel and Registry take precedence
	// over the fields above.
	Compaction compaction.Config
}

// compaction returns the settings of the compaction layer, completed by what the layers share.
func (c Config) compaction() compaction.Config {
	cfg := c.Compaction
	if cfg.Registry == nil {
		cfg.Registry = c.Registry
	}
	if c.Model == nil {
		return cfg
	}
	switch {
	case cfg.Model == nil && cfg.Summarizer == nil:
		cfg.Model = c.Model
	case cfg.AgentModel == "" && cfg.AgentModelFunc == nil:
		// Something else writes the summaries, so compaction cannot see which model the agent has.
		cfg.AgentModel = c.Model.Name()
	}
	return cfg
}
