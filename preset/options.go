package preset

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// option is a key with its field of [Values].
type option struct {
	Key
	parse func(v *Values, text string) (reason string)
	// given returns the value that is set, and what is wrong with it.
	given func(v *Values) (value any, set bool, reason string)
}

// add makes an option of a field, a parser of its text and a check of its value. Both return what is wrong,
// with the remedy.
func add[T any](key Key, at func(*Values) **T, parse func(string) (T, string), check func(T) string) option {
	return option{
		Key: key,
		parse: func(v *Values, text string) string {
			value, reason := parse(strings.TrimSpace(text))
			if reason == "" {
				reason = check(value)
			}
			if reason == "" {
				*at(v) = &value
			}
			return reason
		},
		given: func(v *Values) (any, bool, string) {
			p := *at(v)
			if p == nil {
				return nil, false, ""
			}
			return *p, true, check(*p)
		},
	}
}

// options are all values. Their order is that of [Settings.Explain].
var options = []option{
	choice(Key{Name: "session.preset", Flag: "preset", Help: "longrun: the set recommended for long runs"}, func(v *Values) **string { return &v.Preset }, LongRun),
	choice(Key{Name: "session.task_class", Flag: "task", Help: "what the session is for: chooses the tier of the model, a threshold and when to ask"}, func(v *Values) **Task { return &v.Task }, Debug, Implement, Chat, Research, Review),
	toggle(Key{Name: "session.unattended", Flag: "unattended", Help: "nobody watches: the watchdog stops loops, and a ceiling is required"}, func(v *Values) **bool { return &v.Unattended }),
	choice(Key{Name: "agent.provider", Flag: "provider", Help: "whose models to choose from"}, func(v *Values) **Provider { return &v.Provider }, Gemini, Vertex, Anthropic),
	name(Key{Name: "agent.model", Flag: "model", Help: "the agent's model"}, func(v *Values) **string { return &v.Model }),
	name(Key{Name: "agent.agentic_small_model", Flag: "agentic-small-model", Help: "the model of agentic tools; the agent's own model turns the saving off"}, func(v *Values) **string { return &v.SmallModel }),
	toggle(Key{Name: "agent.agentic_tools", Flag: "agentic-tools", Help: "tools that read in a context of their own"}, func(v *Values) **bool { return &v.AgenticTools }),
	choice(Key{Name: "session.ask", Flag: "ask", Help: "when to ask before a tool runs"}, func(v *Values) **Ask { return &v.Ask }, AskAlways, AskAuto, AskAllow),
	toggle(Key{Name: "compaction.enabled", Flag: "no-compact", Negated: true, Help: "no automatic compaction; the hard limit stays"}, func(v *Values) **bool { return &v.Compaction }),
	choice(Key{Name: "compaction.thresholds", Flag: "thresholds", Help: "a named pair of thresholds"}, func(v *Values) **string { return &v.Thresholds }, append([]string{byTier}, pairNames()...)...),
	share(Key{Name: "compaction.threshold", Flag: "threshold", Help: "the share of the effective window at which compaction begins; 0 is off"}, func(v *Values) **float64 { return &v.Threshold }, true),
	share(Key{Name: "compaction.threshold_by_tier.frontier", Flag: "threshold-frontier", Help: "the same for models of the frontier tier"}, func(v *Values) **float64 { return &v.ThresholdByTier.Frontier }, true),
	share(Key{Name: "compaction.threshold_by_tier.mid", Flag: "threshold-mid", Help: "the same for models of the mid tier"}, func(v *Values) **float64 { return &v.ThresholdByTier.Mid }, true),
	share(Key{Name: "compaction.threshold_by_tier.small", Flag: "threshold-small", Help: "the same for models of the small tier"}, func(v *Values) **float64 { return &v.ThresholdByTier.Small }, true),
	share(Key{Name: "compaction.block_threshold", Flag: "block-threshold", Help: "the share at which a request waits until it is smaller"}, func(v *Values) **float64 { return &v.BlockThreshold }, false),
	turns(Key{Name: "compaction.invocation_threshold", Flag: "invocation-threshold", Help: "when to compact below the threshold: price is when it pays, a number after that many turns; 0 is off"}, func(v *Values) **int { return &v.InvocationThreshold }),
	choice(Key{Name: "session.checkpoint", Flag: "checkpoint", Help: "who writes checkpoints"}, func(v *Values) **contexttool.Mode { return &v.Checkpoint }, contexttool.ByModel, contexttool.ByOperator, contexttool.NoCheckpoints),
	toggle(Key{Name: "session.compact_context", Flag: "compact-context", Help: "a tool by which the model compacts the session"}, func(v *Values) **bool { return &v.CompactContext }),
	money(Key{Name: "agent.max_turn_cost_usd", Flag: "max-turn-cost-usd", Help: "the ceiling of one turn; 0 is off"}, func(v *Values) **tokens.Nano { return &v.MaxTurnCost }),
	money(Key{Name: "agent.max_session_cost_usd", Flag: "max-session-cost-usd", Help: "the ceiling of the session; 0 is off"}, func(v *Values) **tokens.Nano { return &v.MaxSessionCost }),
	toggle(Key{Name: "agent.no_ceiling", Flag: "no-ceiling", Help: "an unattended run without a ceiling of the session is meant"}, func(v *Values) **bool { return &v.NoCeiling }),
	count(Key{Name: "agent.max_tool_iterations", Flag: "max-tool-iterations", Help: "model calls of one turn that may call tools; 0 is off"}, func(v *Values) **int { return &v.MaxToolIterations }),
	choice(Key{Name: "agent.landing", Flag: "landing", Help: "how a turn comes to a limit: soft answers with the last call that fits, hard works until the limit is reached"}, func(v *Values) **guard.LandingMode { return &v.Landing }, guard.LandingSoft, guard.LandingHard),
	add(Key{Name: "agent.unpriced", Flag: "unpriced", Help: "warn, refuse, or the model at whose price models without one are charged"}, func(v *Values) **string { return &v.Unpriced }, text, func(as string) string {
		if as == string(guard.UnpricedWarn) || as == string(guard.UnpricedRefuse) || as != "" {
			return ""
		}
		return "use warn, refuse, or the name of a model that has a price"
	}),
	choice(Key{Name: "safety.watchdog", Flag: "watchdog", Help: "what happens to loops"}, func(v *Values) **watchdog.Mode { return &v.Watchdog }, watchdog.Warn, watchdog.Note, watchdog.Stop, watchdog.Off),
	choice(Key{Name: "safety.small_tier_parent", Flag: "small-tier-parent", Help: "what happens if the agent's own model is of the small tier"}, func(v *Values) **SmallTier { return &v.SmallTierParent }, SmallTierWarn, SmallTierRefuse, SmallTierAllow),
}

func pairNames() []string {
	var names []string
	for _, p := range pairs {
		names = append(names, p.name)
	}
	return names
}

func text(s string) (string, string) { return s, "" }

func choice[T ~string](key Key, at func(*Values) **T, from ...T) option {
	return add(key, at, func(s string) (T, string) { return T(s), "" }, func(value T) string {
		var list strings.Builder
		for i, one := range from {
			if one == value {
				return ""
			}
			switch {
			case i == 0:
			case i == len(from)-1:
				list.WriteString(" or ")
			default:
				list.WriteString(", ")
			}
			list.WriteString(string(one))
		}
		return "use " + list.String()
	})
}

func toggle(key Key, at func(*Values) **bool) option {
	return add(key, at, func(s string) (bool, string) {
		b, err := strconv.ParseBool(s)
		if err != nil {
			return false, "use true or false"
		}
		return b, ""
	}, func(bool) string { return "" })
}

func name(key Key, at func(*Values) **string) option {
	return add(key, at, text, func(s string) string {
		if strings.TrimSpace(s) == "" {
			return "name a model"
		}
		return ""
	})
}

// share is a share of the effective window. Above 1 it would never be reached.
func share(key Key, at func(*Values) **float64, zero bool) option {
	return add(key, at, func(s string) (float64, string) {
		f, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil:
			return 0, "use a share of the effective window, such as 0.7"
		case f == 0 && !isZero(s):
			return 0, roundsToZero
		}
		return f, ""
	}, func(f float64) string {
		switch {
		case math.IsNaN(f) || f < 0 || f > 1:
			return "use a share of the effective window, from 0 to 1"
		case f == 0 && !zero:
			return "it cannot be turned off: use a share of the effective window above 0, such as 0.98"
		}
		return ""
	})
}

func count(key Key, at func(*Values) **int) option {
	return add(key, at, func(s string) (int, string) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0, "use a whole number"
		}
		return n, ""
	}, func(n int) string {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Sprintf("use a number from 0 to %d; 0 is off", math.MaxInt32)
		}
		return ""
	})
}

// byPrice is the text of a trigger that goes by price.
const byPrice = "price"

// turns is a number of turns, or what takes its place.
func turns(key Key, at func(*Values) **int) option {
	const want = "use price, a number of turns, or 0, which is off"
	return add(key, at, func(s string) (int, string) {
		n, err := strconv.Atoi(s)
		switch {
		case s == byPrice:
			return 0, ""
		case err != nil || n < 0:
			return 0, want
		case n == 0:
			return compaction.Off, ""
		}
		return n, ""
	}, func(n int) string {
		if n < compaction.Off || n > math.MaxInt32 {
			return want
		}
		return ""
	})
}

func money(key Key, at func(*Values) **tokens.Nano) option {
	return add(key, at, func(s string) (tokens.Nano, string) {
		n, err := tokens.ParseUSD(s)
		switch {
		case err != nil:
			return 0, "use an amount in USD of 0 or more, such as 0.50; 0 is off"
		case n == 0 && !isZero(s):
			return 0, roundsToZero
		}
		return n, ""
	}, func(n tokens.Nano) string {
		switch {
		case n < 0:
			return "use an amount in USD of 0 or more, such as 0.50; 0 is off"
		case 0 < n && n < tokens.Dollar/10_000: // package guard refuses it
			return "it is less than a hundredth of a cent, which no call costs: use 0.0001 or more; 0 is off"
		}
		return ""
	})
}

// roundsToZero refuses what would be off without having been turned off.
const roundsToZero = "it rounds to 0, which is off: write 0, or more"

// isZero reports whether a number that was read as 0 was written so.
func isZero(text string) bool { return !strings.ContainsAny(text, "123456789") }

func environmentName(k Key) string {
	flag := k.Flag
	if k.Negated {
		flag = strings.TrimPrefix(flag, "no-")
	}
	return "LONGSESSION_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
