package tokens

import "strings"

// builtInModels is the built-in table, longest name first.
//
// Windows and output limits are from the providers' model pages. Prices are
// list prices for text of the providers' own APIs as of mid 2026, standard
// tier, prompts below any long-context surcharge:
// https://ai.google.dev/gemini-api/docs/pricing,
// https://platform.claude.com/docs/en/about-claude/pricing and
// https://openai.com/api/pricing. A row has no prices if they depend on the
// provider that serves the model, or if sources disagree.
//
// A row for a family has no price, and the smallest window that is usual in the family. So a
// version newer than this table is compacted early, and its cost is unknown rather than wrong.
// Tiers follow a rule of thumb: mini, nano, lite and flash are small.
// Only Gemini bills the storage of a cache by the hour.
var builtInModels = flatten([]family{
	// Claude has 1M from 4.6 on, and 200,000 before. Both spellings of a version are in use: 4-6 at
	// Anthropic and Vertex AI, 4.6 at OpenRouter.
	{"claude", Model{ContextWindow: 200_000}},
	{"claude-opus", Model{ContextWindow: 200_000, Tier: TierFrontier}},
	{"claude-opus-4-0 claude-opus-4-1 claude-opus-4.1 claude-opus-4-2025 claude-opus-4@2025", Model{
		ContextWindow: 200_000, MaxOutputTokens: 32_000,
		InputPrice: 15, CachedInputPrice: 1.50, OutputPrice: 75, Tier: TierFrontier,
	}},
	{"claude-opus-4-5 claude-opus-4.5", Model{
		ContextWindow: 200_000, MaxOutputTokens: 64_000,
		InputPrice: 5, CachedInputPrice: 0.50, OutputPrice: 25, Tier: TierFrontier,
	}},
	{"claude-opus-4-6 claude-opus-4.6 claude-opus-4-7 claude-opus-4.7 claude-opus-4-8 claude-opus-4.8", Model{
		ContextWindow: 1_000_000, MaxOutputTokens: 128_000,
		InputPrice: 5, CachedInputPrice: 0.50, OutputPrice: 25, Tier: TierFrontier,
	}},
	{"claude-opus-4-9 claude-opus-4.9 claude-opus-5", Model{ContextWindow: 1_000_000, Tier: TierFrontier}},
	{"claude-sonnet", Model{ContextWindow: 200_000, Tier: TierMid}},
	// Sonnet 4 and 4.5 have 1M only with a beta header.
	{"claude-sonnet-4-0 claude-sonnet-4-5 claude-sonnet-4.5 claude-sonnet-4-2025 claude-sonnet-4@2025 claude-3-7-sonnet claude-3.7-sonnet", Model{
		ContextWindow: 200_000, MaxOutputTokens: 64_000,
		InputPrice: 3, CachedInputPrice: 0.30, OutputPrice: 15, Tier: TierMid,
	}},
	{"claude-sonnet-4-6 claude-sonnet-4.6", Model{
		ContextWindow: 1_000_000, MaxOutputTokens: 64_000,
		InputPrice: 3, CachedInputPrice: 0.30, OutputPrice: 15, Tier: TierMid,
	}},
	{"claude-sonnet-4-7 claude-sonnet-4.7 claude-sonnet-4-8 claude-sonnet-4.8 claude-sonnet-4-9 claude-sonnet-4.9 claude-sonnet-5", Model{
		ContextWindow: 1_000_000, Tier: TierMid,
	}},
	{"claude-haiku", Model{ContextWindow: 200_000, Tier: TierSmall}},
	{"claude-haiku-4-5 claude-haiku-4.5", Model{
		ContextWindow: 200_000, MaxOutputTokens: 64_000,
		InputPrice: 1, CachedInputPrice: 0.10, OutputPrice: 5, Tier: TierSmall,
	}},
	{"claude-haiku-4-6 claude-haiku-4.6 claude-haiku-4-7 claude-haiku-4.7 claude-haiku-4-8 claude-haiku-4.8 claude-haiku-4-9 claude-haiku-4.9 claude-haiku-5", Model{
		ContextWindow: 1_000_000, Tier: TierSmall,
	}},
	{"claude-3-5-sonnet claude-3.5-sonnet", Model{
		ContextWindow: 200_000, MaxOutputTokens: 8_192,
		InputPrice: 3, CachedInputPrice: 0.30, OutputPrice: 15, Tier: TierMid,
	}},
	{"claude-3-5-haiku claude-3.5-haiku", Model{
		ContextWindow: 200_000, MaxOutputTokens: 8_192,
		InputPrice: 0.80, CachedInputPrice: 0.08, OutputPrice: 4, Tier: TierSmall,
	}},
	{"claude-3-haiku", Model{
		ContextWindow: 200_000, MaxOutputTokens: 4_096,
		InputPrice: 0.25, CachedInputPrice: 0.03, OutputPrice: 1.25, Tier: TierSmall,
	}},

	// Gemini. Pro prices apply up to 200,000 prompt tokens.
	{"gemini", Model{ContextWindow: 1_000_000}},
	{"gemini-pro-latest gemini-3.5-pro", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536, Tier: TierFrontier,
	}},
	{"gemini-3-pro gemini-3.1-pro", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536,
		InputPrice: 2, CachedInputPrice: 0.20, OutputPrice: 12, Tier: TierFrontier,
	}},
	{"gemini-flash-latest gemini-flash-lite-latest gemini-3.1-flash gemini-3.6-flash gemini-3.5-flash-lite", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536, Tier: TierSmall,
	}},
	{"gemini-3-flash", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536,
		InputPrice: 0.50, CachedInputPrice: 0.05, OutputPrice: 3, Tier: TierSmall,
	}},
	{"gemini-3.1-flash-lite", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536,
		InputPrice: 0.25, CachedInputPrice: 0.025, OutputPrice: 1.50, Tier: TierSmall,
	}},
	{"gemini-3.5-flash", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536,
		InputPrice: 1.50, CachedInputPrice: 0.15, OutputPrice: 9, Tier: TierSmall,
	}},
	{"gemini-2.5-pro", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536,
		InputPrice: 1.25, CachedInputPrice: 0.125, OutputPrice: 10, Tier: TierMid,
	}},
	{"gemini-2.5-flash", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536,
		InputPrice: 0.30, CachedInputPrice: 0.03, OutputPrice: 2.50, Tier: TierSmall,
	}},
	{"gemini-2.5-flash-lite", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 65_536,
		InputPrice: 0.10, CachedInputPrice: 0.01, OutputPrice: 0.40, Tier: TierSmall,
	}},
	// Live, computer-use and image models have far smaller windows than their siblings, and
	// prices by modality.
	{"gemini-live gemini-2.5-flash-native-audio gemini-2.5-computer-use", Model{ContextWindow: 128_000, Tier: TierSmall}},
	{"gemini-2.5-flash-image", Model{ContextWindow: 32_768, Tier: TierSmall}},
	{"gemini-3-pro-image gemini-3.1-flash-image", Model{ContextWindow: 65_536}},
	{"gemini-2.0-flash", Model{
		ContextWindow: 1_048_576, MaxOutputTokens: 8_192,
		InputPrice: 0.10, CachedInputPrice: 0.025, OutputPrice: 0.40, Tier: TierSmall,
	}},
	{"gemini-2.0-flash-lite", Model{ContextWindow: 1_048_576, MaxOutputTokens: 8_192, Tier: TierSmall}},

	// GPT. From 5.4 on, longer windows exist at twice the price. 400,000 stays below the surcharge
	// of the longest prompts.
	{"gpt-3.5", Model{ContextWindow: 16_385, MaxOutputTokens: 4_096, Tier: TierSmall}},
	{"gpt-4", Model{ContextWindow: 128_000}},
	{"gpt-4-0613", Model{ContextWindow: 8_192}},
	{"gpt-4-32k", Model{ContextWindow: 32_768}},
	{"gpt-4-turbo", Model{
		ContextWindow: 128_000, MaxOutputTokens: 4_096,
		InputPrice: 10, OutputPrice: 30, Tier: TierMid,
	}},
	{"gpt-4o", Model{
		ContextWindow: 128_000, MaxOutputTokens: 16_384,
		InputPrice: 2.50, CachedInputPrice: 1.25, OutputPrice: 10, Tier: TierMid,
	}},
	{"gpt-4o-mini", Model{
		ContextWindow: 128_000, MaxOutputTokens: 16_384,
		InputPrice: 0.15, CachedInputPrice: 0.075, OutputPrice: 0.60, Tier: TierSmall,
	}},
	{"gpt-4.1", Model{
		ContextWindow: 1_000_000, MaxOutputTokens: 32_768,
		InputPrice: 2, CachedInputPrice: 0.50, OutputPrice: 8, Tier: TierMid,
	}},
	{"gpt-4.1-mini", Model{
		ContextWindow: 1_000_000, MaxOutputTokens: 32_768,
		InputPrice: 0.40, CachedInputPrice: 0.10, OutputPrice: 1.60, Tier: TierSmall,
	}},
	{"gpt-4.1-nano", Model{
		ContextWindow: 1_000_000, MaxOutputTokens: 32_768,
		InputPrice: 0.10, CachedInputPrice: 0.025, OutputPrice: 0.40, Tier: TierSmall,
	}},
	{"gpt-5 gpt-5.1", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 1.25, CachedInputPrice: 0.125, OutputPrice: 10, Tier: TierFrontier,
	}},
	{"gpt-5. gpt-5-pro gpt-5.2-pro gpt-5.4-pro gpt-5.5-pro", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000, Tier: TierFrontier,
	}},
	{"gpt-5.2", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 1.75, CachedInputPrice: 0.175, OutputPrice: 14, Tier: TierFrontier,
	}},
	{"gpt-5.4", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 2.50, CachedInputPrice: 0.25, OutputPrice: 15, Tier: TierFrontier,
	}},
	{"gpt-5.5", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 5, CachedInputPrice: 0.50, OutputPrice: 30, Tier: TierFrontier,
	}},
	{"gpt-5-mini", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 0.25, CachedInputPrice: 0.025, OutputPrice: 2, Tier: TierSmall,
	}},
	{"gpt-5-nano", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 0.05, CachedInputPrice: 0.005, OutputPrice: 0.40, Tier: TierSmall,
	}},
	{"gpt-5.1-codex-mini gpt-5.5-mini", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000, Tier: TierSmall,
	}},
	{"gpt-5.4-mini", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 0.75, CachedInputPrice: 0.075, OutputPrice: 4.50, Tier: TierSmall,
	}},
	{"gpt-5.4-nano", Model{
		ContextWindow: 400_000, MaxOutputTokens: 128_000,
		InputPrice: 0.20, CachedInputPrice: 0.02, OutputPrice: 1.25, Tier: TierSmall,
	}},
	{"gpt-5-chat gpt-5.1-chat gpt-5.2-chat", Model{ContextWindow: 128_000, MaxOutputTokens: 16_384, Tier: TierFrontier}},

	// Many providers serve these models, with their own prices and output limits.
	{"grok", Model{ContextWindow: 131_072}},
	{"grok-4", Model{ContextWindow: 2_000_000}},
	{"grok-4-0709", Model{ContextWindow: 256_000}}, // the first Grok 4; later ones have up to 2M
	{"deepseek", Model{ContextWindow: 128_000}},
	{"deepseek-v3 deepseek-chat-v3", Model{ContextWindow: 163_840}},
	{"qwen", Model{ContextWindow: 128_000}},
	{"qwen3", Model{ContextWindow: 131_072}},
	{"llama", Model{ContextWindow: 128_000}},
	{"llama-4", Model{ContextWindow: 327_680}},
	{"mistral mixtral", Model{ContextWindow: 128_000}},
	{"mistral-large", Model{ContextWindow: 262_144}},
})

// family is one row for several names, separated by spaces.
type family struct {
	names string
	model Model
}

func flatten(families []family) []Model {
	var models []Model
	for _, f := range families {
		for _, name := range strings.Fields(f.names) {
			m := f.model
			m.Name = name
			models = append(models, m)
		}
	}
	sortBySpecificity(models)
	return models
}
