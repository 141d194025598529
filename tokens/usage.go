package tokens

import "google.golang.org/genai"

// Usage is the number of tokens used by one or more model calls, as reported by the provider. The
// zero value is no usage.
type Usage struct {
	// PromptTokens is the size of the prompt, including the cached prefix.
	PromptTokens int
	// CachedTokens is the part of PromptTokens that was read from a cache.
	CachedTokens int
	// OutputTokens is the size of the model's output, including thoughts.
	OutputTokens int
}

// UsageOf returns the usage in a provider's report. Output is candidates plus thoughts: both are
// billed as output, and Gemini counts them separately. Tokens of tools that ran at the provider
// (ToolUsePromptTokenCount) are excluded, because the next prompt does not contain them. A nil
// report gives zero usage, and a negative count is read as 0.
func UsageOf(m *genai.GenerateContentResponseUsageMetadata) Usage {
	if m == nil {
		return Usage{}
	}
	return Usage{
		PromptTokens: max(0, int(m.PromptTokenCount)),
		CachedTokens: max(0, int(m.CachedContentTokenCount)),
		OutputTokens: max(0, int(m.CandidatesTokenCount)) + max(0, int(m.ThoughtsTokenCount)),
	}
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		PromptTokens: u.PromptTokens + v.PromptTokens,
		CachedTokens: u.CachedTokens + v.CachedTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens,
	}
}

// Total returns prompt plus output tokens. Cached tokens are part of the prompt and do not count
// twice.
func (u Usage) Total() int { return u.PromptTokens + u.OutputTokens }

// Cost returns the cost of u on m in USD.
//
// The cached prefix is charged at CachedInputPrice or, if that is unknown, at InputPrice. So a cost
// may be too high, but is never missed. If a report has more cached than prompt tokens, it counts
// them separately, and both are charged. Not included are writing and storing a cache, and the
// surcharge of some models for long prompts.
//
// The cost of a model without prices is 0, which does not mean that it is free. Check
// [Model.Priced] before relying on a limit in USD.
func (m Model) Cost(u Usage) float64 {
	const perMillion = 1e-6
	cachedPrice := m.CachedInputPrice
	if cachedPrice == 0 {
		cachedPrice = m.InputPrice
	}
	fresh := u.PromptTokens - u.CachedTokens
	if fresh < 0 {
		fresh = u.PromptTokens
	}
	return perMillion * (float64(fresh)*m.InputPrice +
		float64(u.CachedTokens)*cachedPrice +
		float64(u.OutputTokens)*m.OutputPrice)
}

// Priced reports whether both the input and the output price are known.
func (m Model) Priced() bool { return m.InputPrice > 0 && m.OutputPrice > 0 }
