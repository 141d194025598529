package summarizer

import (
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// callConfig returns a deep copy of the fields of cfg that may shape a summary, and never nil. The
// copy is deep because models modify the config of a request, and calls may run concurrently.
//
// The list of fields is short on purpose. A config for an agent's replies may have tools, system
// instructions, schemas and stop sequences that would turn the summary into something else, a cache
// of another conversation, and an output limit that would cut the summary short.
func callConfig(cfg *genai.GenerateContentConfig) *genai.GenerateContentConfig {
	if cfg == nil {
		return &genai.GenerateContentConfig{}
	}
	return adk.DeepCopy(&genai.GenerateContentConfig{
		Temperature:    cfg.Temperature,
		TopP:           cfg.TopP,
		TopK:           cfg.TopK,
		Seed:           cfg.Seed,
		Labels:         cfg.Labels,
		SafetySettings: cfg.SafetySettings,
		HTTPOptions:    cfg.HTTPOptions,
	})
}
