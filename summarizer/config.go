package summarizer

import (
	"maps"
	"slices"

	"google.golang.org/genai"
)

// callConfig copies what of cfg may shape a summary, deeply: models write into the config of a
// request, and two calls that share one race. It never returns nil.
//
// It is an allow-list. A config written for an agent's replies carries tools, system instructions,
// schemas and stop sequences that would turn the summary into something else, a cache of another
// conversation, and an output limit that would cut it short.
func callConfig(cfg *genai.GenerateContentConfig) *genai.GenerateContentConfig {
	out := &genai.GenerateContentConfig{}
	if cfg == nil {
		return out
	}
	out.Temperature = clonePointer(cfg.Temperature)
	out.TopP = clonePointer(cfg.TopP)
	out.TopK = clonePointer(cfg.TopK)
	out.Seed = clonePointer(cfg.Seed)
	out.Labels = maps.Clone(cfg.Labels)
	for _, s := range cfg.SafetySettings {
		out.SafetySettings = append(out.SafetySettings, clonePointer(s))
	}
	if o := cfg.HTTPOptions; o != nil {
		h := *o
		h.Headers = o.Headers.Clone()
		h.Timeout = clonePointer(o.Timeout)
		h.ExtraBody = cloneMap(o.ExtraBody)
		out.HTTPOptions = &h
	}
	return out
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func cloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = cloneValue(v)
	}
	return out
}

// cloneValue copies the containers that JSON knows; anything else is shared.
func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneMap(v)
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = cloneValue(out[i])
		}
		return out
	default:
		return v
	}
}
