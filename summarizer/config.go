package summarizer

import (
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// callConfig copies what of cfg may shape a summary, deeply: models write into the config of a
// request, and two calls that share one race. It never returns nil.
//
// It is an allow-list. A config written for an agent's replies carries tools, system instructions,
// schemas and stop sequences that would turn the summary into something else, a cache of another
// conversation, and an output limit that would cut it short.
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
