package main

import (
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

// models are those whose prices are used, of three providers: cached input costs a tenth, a quarter and a half of other
// input, and output four to eight times as much as input.
var models = []string{"gemini-2.5-flash", "claude-sonnet-4-5", "gpt-4.1", "gpt-4o"}

// thresholds are the prompt sizes, in tokens, that are tried for the best one.
var thresholds = []int{6_000, 8_000, 12_000, 16_000, 24_000, 32_000, 40_000, 48_000, 56_000, 64_000, 80_000, 96_000, 112_000, 128_000, 144_000, 160_000}

// window is the context window of the agent's model, in tokens.
const window = 200_000

// bill is what one conversation came to under one policy.
type bill struct {
	sent        replay.Sent
	summaries   replay.Summaries
	compactions int
}

// dollars is what a bill costs at the prices of a model, summaries included.
func (b bill) dollars(m tokens.Model) float64 {
	return m.Cost(tokens.Usage{PromptTokens: b.sent.PromptTokens, CachedTokens: b.sent.CachedTokens, OutputTokens: b.sent.OutputTokens}) +
		m.Cost(tokens.Usage{PromptTokens: b.summaries.PromptTokens, OutputTokens: b.summaries.OutputTokens})
}

// bills are those of one conversation.
type bills struct {
	id       string
	without  bill
	fixed    []bill // for each of thresholds
	byPrices []bill // for each of models
}
