package longsession

import (
	"fmt"
	"strings"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/preset"
)

// FromSettings returns a config in which the resolved settings take effect. llm must be the model that they
// name, because the thresholds follow from its tier. If the settings were resolved with a registry, set it as
// Config.Registry, too. All other fields may be set as usual.
//
// Two settings are for the app to follow: settings.Ask, normally by [preset.Ask.Asks] in the confirmation
// provider of each tool, and settings.SmallModel with settings.AgenticTools.
//
// The error is a [*ConfigError].
func FromSettings(s preset.Settings, llm model.LLM) (Config, error) {
	switch {
	case s.Model.Value == "":
		return Config{}, &ConfigError{"settings", "the zero value", "make them with preset.Resolve"}
	case llm == nil || adk.IsNil(llm):
		return Config{}, &ConfigError{"Model", "nil", "give the model that the settings name: " + s.Model.Value}
	case !sameModel(llm.Name(), s.Model.Value):
		return Config{}, &ConfigError{"Model", llm.Name(), fmt.Sprintf(
			"the settings are for %s (%s), whose tier decides the thresholds: give that model, or name this one in the settings", s.Model.Value, s.Model.Origin())}
	}
	cfg := Config{Model: llm}
	cfg.Compaction.SafetyRatio = orOff(s.Threshold.Value)
	cfg.Compaction.BlockRatio = s.BlockThreshold.Value
	cfg.Compaction.InvocationThreshold = orOff(s.InvocationThreshold.Value)
	cfg.Compaction.Economical = s.Economical.Value
	if s.Threshold.Value == 0 {
		cfg.Compaction.TokenThreshold = compaction.Off
	}
	cfg.Budget.Thresholds = budget.Thresholds{
		Note: noteBelow(s.Threshold.Value, s.BlockThreshold.Value), Compact: orOff(s.Threshold.Value), Block: s.BlockThreshold.Value,
	}
	cfg.Guard = guardOf(s)
	cfg.ContextTools = contextToolsOf(s)
	return cfg, nil
}

// guardOf returns the limits and the watchdog. A turn of n tool iterations has one model call more, which
// answers without tools.
func guardOf(s preset.Settings) guard.Config {
	cfg := guard.Config{
		Turn:     guard.Limits{USD: s.MaxTurnCost.Value},
		Session:  guard.Limits{USD: s.MaxSessionCost.Value},
		Landing:  guard.LandingMode(s.Landing.Value),
		Watchdog: watchdog.Config{Mode: watchdog.Mode(s.Watchdog.Value)},
	}
	if n := s.MaxToolIterations.Value; n > 0 {
		cfg.Turn.ModelCalls = n + 1
	}
	switch as := s.Unpriced.Value; as {
	case preset.UnpricedWarn, preset.UnpricedRefuse:
		cfg.Unpriced = guard.UnpricedPolicy(as)
	default:
		cfg.Unpriced, cfg.PriceAs = guard.UnpricedAs, as
	}
	return cfg
}

// contextToolsOf returns the tools by which the model tends its own context.
func contextToolsOf(s preset.Settings) contexttool.Config {
	checkpoint := contexttool.Mode(s.Checkpoint.Value)
	return contexttool.Config{
		Enabled:            checkpoint == contexttool.ByModel || s.CompactContext.Value,
		Checkpoint:         checkpoint,
		OmitCompactContext: !s.CompactContext.Value,
	}
}

// orOff returns Off, which has the same value in all layers, for 0: the layers take 0 for the default.
func orOff[N int | float64](n N) N {
	if n == 0 {
		return compaction.Off
	}
	return n
}

// noteBelow returns where the model is first told how full the window is: at 80%, or a little below the
// threshold if that is lower. A note must come before a compaction.
func noteBelow(compact, block float64) float64 {
	const usual, lead = 0.80, 0.05
	if compact == 0 {
		compact = block
	}
	switch {
	case compact > usual:
		return usual
	case compact > lead:
		return compact - lead
	}
	return budget.Off
}

// sameModel compares names without publishers and paths: "models/gemini-2.5-pro" is "gemini-2.5-pro".
func sameModel(a, b string) bool {
	return strings.EqualFold(a[strings.LastIndexByte(a, '/')+1:], b[strings.LastIndexByte(b, '/')+1:])
}
