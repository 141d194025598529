package tokens_test

import (
	"math"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/tokens"
)

func TestEightTimesTenCentsAreEightyCents(t *testing.T) {
	t.Parallel()
	m := tokens.Model{InputPrice: 1, OutputPrice: 1}
	var sum tokens.Nano
	for range 8 {
		sum += m.Nanos(tokens.Usage{PromptTokens: 100_000})
	}
	if sum != 80*tokens.Cent {
		t.Errorf("the sum is %d, want %d", sum, 80*tokens.Cent)
	}
}

// TestEveryBuiltInPriceIsWhole: with a fraction of a Nano per token, sums would depend on how calls are
// grouped.
func TestEveryBuiltInPriceIsWhole(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, name := range []string{"gemini-2.5-flash-lite", "gemini-3.1-flash-lite", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash", "claude-3-haiku", "claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-4-7", "gpt-4o-mini", "gpt-4.1", "gpt-4o"} {
		m, ok := tokens.Lookup(name)
		if !ok || !m.Priced() {
			t.Errorf("%s has no price", name)
			continue
		}
		for _, u := range []tokens.Usage{{PromptTokens: 1}, {PromptTokens: 1, CachedTokens: 1}, {OutputTokens: 1}, {CachedTokens: 7}} {
			if got, want := m.Nanos(u), m.Cost(u)*1e9; math.Abs(float64(got)-want) > 1e-6 {
				t.Errorf("%s: %+v costs %d, want %v", name, u, got, want)
			}
			checked++
		}
	}
	if checked < 40 {
		t.Errorf("%d prices were compared", checked)
	}
}

func TestAFinerPriceIsRoundedUp(t *testing.T) {
	t.Parallel()
	m := tokens.Model{InputPrice: 0.0123, OutputPrice: 1} // 12.3 Nano per token
	if got := m.Nanos(tokens.Usage{PromptTokens: 10}); got != 130 {
		t.Errorf("ten tokens cost %d, want 130", got)
	}
}

func TestAmountsAreReadAndWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]tokens.Nano{
		"0.50": 50 * tokens.Cent, "$20": 20 * tokens.Dollar, " +1.25 ": 125 * tokens.Cent, "0": 0, "1e-9": 1, "0.0000000001": 1, "0.1": 10 * tokens.Cent, "1e9": 1e9 * tokens.Dollar,
	} {
		if got, err := tokens.ParseUSD(text); got != want || err != nil {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for text, part := range map[string]string{"": "no amount", "ten": "no amount", "-1": "negative", "NaN": "at most", "Inf": "at most", "2e9": "at most", "1e999": "at most", "-Inf": "at most", "1,5": "no amount"} {
		if _, err := tokens.ParseUSD(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want an error with %q", text, err, part)
		}
	}
	for n, want := range map[tokens.Nano]string{10_700_000: "$0.0107", 0: "$0.0000", 50 * tokens.Cent: "$0.5000", -125 * tokens.Cent: "-$1.2500", 99_950_000: "$0.1000", 12 * tokens.Dollar: "$12.0000"} {
		if got := n.String(); got != want {
			t.Errorf("%d is %q, want %q", int64(n), got, want)
		}
	}
}
