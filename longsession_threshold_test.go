package longsession_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

// TestTheThresholdShownIsTheOneActedOn asks compaction at which size it acts, and the tracker what it shows.
func TestTheThresholdShownIsTheOneActedOn(t *testing.T) {
	t.Parallel()
	priced, err := tokens.NewRegistry(tokens.Model{Name: "m", ContextWindow: 100_000, MaxOutputTokens: 1, InputPrice: 2, CachedInputPrice: 0.2, OutputPrice: 8})
	if err != nil {
		t.Fatal(err)
	}
	settings := preset.Settings{}
	settings.Model.Value, settings.Threshold.Value, settings.BlockThreshold.Value, settings.InvocationThreshold.Value = "m", 0.35, 0.95, 0
	settings.Unpriced.Value = string(guard.UnpricedWarn)
	fromSettings, err := longsession.FromSettings(settings, speaker("m"))
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]longsession.Config{
		"defaults":         {},
		"by turns":         {Compaction: compaction.DefaultConfig()},
		"budget":           {Budget: budget.Config{Thresholds: budget.Early}},
		"compaction":       {Compaction: compaction.Config{SafetyRatio: 0.5}},
		"tokens":           {Compaction: compaction.Config{TokenThreshold: 20_000}},
		"size alone":       {Compaction: compaction.Config{TokenThreshold: 20_000, InvocationThreshold: compaction.Off}},
		"never":            {Compaction: compaction.Config{SafetyRatio: compaction.Off, TokenThreshold: compaction.Off, InvocationThreshold: compaction.Off}},
		"turns alone":      {Compaction: compaction.Config{InvocationThreshold: 5, SafetyRatio: compaction.Off, TokenThreshold: compaction.Off}},
		"prices known":     {Registry: priced, Compaction: compaction.Config{}},
		"prices alone":     {Registry: priced, Compaction: compaction.Config{SafetyRatio: compaction.Off, TokenThreshold: compaction.Off}},
		"settings":         fromSettings,
		"without toolsets": {Disable: []longsession.Layer{longsession.LayerToolSearch, longsession.LayerToolResults}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg.Model = speaker("m")
			cfg.Compaction.ContextWindow, cfg.Compaction.MaxOutputTokens = 100_000, compaction.Off
			if cfg.Budget.Thresholds == budget.Early {
				cfg.Compaction.BlockRatio = 0
			}
			stack := newStack(t, cfg)
			if err := ask(t, stack, cfg.Model); err != nil {
				t.Fatal(err)
			}
			status, err := stack.Sessions.Status(t.Context(), desk)
			if err != nil {
				t.Fatal(err)
			}
			tracker := stack.Tracker(desk)
			info, block := tracker.Info(), tracker.Metrics()
			want := float64(status.TokenThreshold) / 100_000
			if math.Abs(info.CompactThreshold-want) > 1e-9 {
				t.Errorf("shown %v, acted on %v", info.CompactThreshold, want)
			}
			line := fmt.Sprintf("\n   Compaction threshold: %.0f%%", 100*want)
			if strings.Contains(block, "Compaction threshold") != (want > 0) || want > 0 && !strings.Contains(block, line) {
				t.Errorf("%s\nwant %q", block, line)
			}
			settings := stack.Sessions.Settings()
			turns := settings.InvocationThreshold
			never := want == 0 && turns == 0 && !settings.ByPrice
			if (info.TurnsLeft > 0) != never || info.ByPrice != settings.ByPrice {
				t.Errorf("%d turns left, by price %v: compaction by size %v, turns %d, price %v", info.TurnsLeft, info.ByPrice, want, turns, settings.ByPrice)
			}
			switch next := "Next summary in about"; {
			case strings.Contains(block, next) != (want > 0 || turns > 0):
				t.Errorf("%s", block)
			case turns > 0 && info.NextSummary != turns-1:
				t.Errorf("the next summary in %d turns, want %d", info.NextSummary, turns-1)
			}
		})
	}
}
