package ledger

import (
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/tokens"
)

// BenchmarkCall is one call of a model in an account with three models and all limits: reserved, settled, and
// written.
func BenchmarkCall(b *testing.B) {
	limits := Limits{USD: 1 << 50, ModelCalls: 1 << 50, Tokens: 1 << 50, Wall: 1 << 60}
	a := Open(self, limits, limits)
	p, _ := a.Begin("e-0a1b2c3d-0000-7000-8000-000000000000", start)
	amount := Amount{Calls: 1, Usage: tokens.Usage{PromptTokens: 12_345, OutputTokens: 678}, USD: 4_321_000}
	models := [...]string{"gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.5-flash-lite"}
	b.ReportAllocs()
	bytes, i := 0, 0
	for b.Loop() {
		now := start.Add(time.Duration(i) * time.Millisecond)
		d := p.Reserve(now, amount, true)
		d.Call.Settle(now, models[i%3], amount, false)
		text, _ := a.Write(now)
		a.Saw(text)
		bytes, i = bytes+len(text), i+1
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "state-B/call")
}
