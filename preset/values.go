package preset

import (
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// SmallTier is what happens if the agent's own model is of the small tier.
type SmallTier string

// The modes of the small-tier guard.
const (
	SmallTierWarn   SmallTier = "warn"
	SmallTierRefuse SmallTier = "refuse"
	SmallTierAllow  SmallTier = "allow"
)

// Values are what one source sets. Nil is unset. [Keys] lists their names.
type Values struct {
	Preset     *string // LongRun
	Task       *Task
	Unattended *bool
	Provider   *Provider
	Model      *string
	SmallModel *string // of agentic tools
	Ask        *Ask

	Compaction          *bool    // false turns both triggers off; the hard limit stays
	Thresholds          *string  // the name of a pair, or ByTier
	Threshold           *float64 // 0 is off
	ThresholdByTier     struct{ Frontier, Mid, Small *float64 }
	BlockThreshold      *float64
	InvocationThreshold *int // turns of the user; 0: prices decide; compaction.Off: neither
	Checkpoint          *contexttool.Mode
	CompactContext      *bool // the model may compact the session by a tool
	AgenticTools        *bool

	MaxTurnCost       *tokens.Nano // 0 is off, as for all ceilings
	MaxSessionCost    *tokens.Nano
	NoCeiling         *bool // an unattended run without a ceiling is meant
	MaxToolIterations *int  // in one turn; 0 is off
	Landing           *guard.LandingMode
	Unpriced          *string
	Watchdog          *watchdog.Mode
	SmallTierParent   *SmallTier
}

// thresholdOf returns the threshold for models of a tier, nil if it is unset.
func (v *Values) thresholdOf(tier tokens.Tier) *float64 {
	switch tier {
	case tokens.TierFrontier:
		return v.ThresholdByTier.Frontier
	case tokens.TierMid:
		return v.ThresholdByTier.Mid
	case tokens.TierSmall:
		return v.ThresholdByTier.Small
	}
	return nil
}

// Key is the name of one value in each source.
type Key struct {
	Name    string // in a file: "compaction.threshold" is threshold in the table compaction
	Flag    string // without dashes
	Negated bool   // the flag turns the value off: --no-compact
	Help    string
}

// Environment is the name of the variable: LONGSESSION_ and the flag without its "no-", in capital letters.
func (k Key) Environment() string { return environmentName(k) }

// Keys lists every value, in the order in which [Settings.Explain] prints them.
func Keys() []Key {
	keys := make([]Key, len(options))
	for i, o := range options {
		keys[i] = o.Key
	}
	return keys
}

// Set sets a value by its name in a file. The error is a [*SettingError] without a source.
func (v *Values) Set(name, text string) error {
	for _, o := range options {
		if o.Name == name {
			if reason := o.parse(v, text); reason != "" {
				return &SettingError{Key: name, Value: text, Reason: reason}
			}
			return nil
		}
	}
	return &SettingError{Key: name, Value: text, Reason: "there is no such key"}
}

// Environment reads the variables of all keys. lookup is os.LookupEnv. A variable that is set to nothing is
// unset. The error joins a [*SettingError] for each value that is refused.
func Environment(lookup func(name string) (string, bool)) (Values, error) {
	var v Values
	var problems []error
	for _, o := range options {
		text, found := lookup(o.Environment())
		if !found || text == "" {
			continue
		}
		if reason := o.parse(&v, text); reason != "" {
			problems = append(problems, &SettingError{Key: o.Name, Value: text, Source: FromEnvironment, Name: o.Environment(), Reason: reason})
		}
	}
	return v, join(problems)
}
