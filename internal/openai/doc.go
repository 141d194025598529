// Package openai is a model of ADK behind any server that speaks OpenAI's Chat Completions API, so that local models
// work.
package openai
