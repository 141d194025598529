package tokens

import (
	"math"
	"testing"

	"google.golang.org/genai"
)

func TestThoughtsAreOutput(t *testing.T) {
	t.Parallel()
	got := UsageOf(&genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount:        1000,
		CachedContentTokenCount: 600,
		CandidatesTokenCount:    50,
		ThoughtsTokenCount:      25,
		ToolUsePromptTokenCount: 10_000,
		TotalTokenCount:         11_075,
	})
	if want := (Usage{PromptTokens: 1000, CachedTokens: 600, OutputTokens: 75}); got != want {
		t.Errorf("UsageOf = %+v, want %+v", got, want)
	}
	if got.Total() != 1075 {
		t.Errorf("Total = %d, want 1075: cached tokens are prompt tokens", got.Total())
	}
}

func TestMissingOrSenselessReportIsNoUsage(t *testing.T) {
	t.Parallel()
	for _, m := range []*genai.GenerateContentResponseUsageMetadata{
		nil, {}, {PromptTokenCount: -1, CachedContentTokenCount: -1, CandidatesTokenCount: -1, ThoughtsTokenCount: -1},
	} {
		if got := UsageOf(m); got != (Usage{}) {
			t.Errorf("UsageOf(%+v) = %+v, want zero", m, got)
		}
	}
}

func TestAddSumsEachCount(t *testing.T) {
	t.Parallel()
	got := Usage{1, 2, 3}.Add(Usage{10, 20, 30})
	if want := (Usage{11, 22, 33}); got != want {
		t.Errorf("Add = %+v, want %+v", got, want)
	}
}

func TestCostChargesTheCachedPrefixApart(t *testing.T) {
	t.Parallel()
	m := Model{InputPrice: 2, CachedInputPrice: 0.5, OutputPrice: 10}
	for _, tt := range []struct {
		name string
		m    Model
		u    Usage
		want float64
	}{
		{name: "nothing used", m: m, u: Usage{}},
		{name: "input", m: m, u: Usage{PromptTokens: 1_000_000}, want: 2},
		{name: "output", m: m, u: Usage{OutputTokens: 1_000_000}, want: 10},
		{name: "cached part of the prompt", m: m, u: Usage{PromptTokens: 1_000_000, CachedTokens: 600_000}, want: 0.4*2 + 0.6*0.5},
		{name: "cached price unknown: full price", m: Model{InputPrice: 2}, u: Usage{PromptTokens: 1_000_000, CachedTokens: 600_000}, want: 2},
		{name: "cached reported separately from the prompt", m: m, u: Usage{PromptTokens: 100_000, CachedTokens: 600_000}, want: 0.1*2 + 0.6*0.5},
		{name: "no prices", m: Model{}, u: Usage{1_000_000, 1, 1_000_000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.m.Cost(tt.u); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("Cost = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPricedNeedsBothPrices(t *testing.T) {
	t.Parallel()
	if (Model{}).Priced() || (Model{InputPrice: 1}).Priced() || (Model{OutputPrice: 1}).Priced() {
		t.Error("Priced without an input or an output price")
	}
	if !(Model{InputPrice: 1, OutputPrice: 1}).Priced() {
		t.Error("not Priced with both")
	}
}
