package preset_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

func resolve(t *testing.T, in preset.In) preset.Settings {
	t.Helper()
	s, err := preset.Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// given makes the values of one source from "key=value" texts, as a file has them.
func given(t *testing.T, texts ...string) preset.Values {
	t.Helper()
	var v preset.Values
	for _, text := range texts {
		key, value, _ := strings.Cut(text, "=")
		if err := v.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// value returns a resolved value and its origin as --explain shows them.
func value(t *testing.T, s preset.Settings, key string) string {
	t.Helper()
	for _, l := range s.Lines() {
		if l.Key == key {
			return l.Value + ", " + l.Origin
		}
	}
	t.Fatalf("no %s among the resolved values", key)
	return ""
}

func TestTaskClasses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		task, threshold, ask, gemini, anthropic string
		tier                                    tokens.Tier
	}{
		{"debug", "0.65", "auto", "gemini-3.5-pro", "claude-opus-4-7", tokens.TierFrontier},
		{"implement", "0.7", "auto", "gemini-3.5-pro", "claude-opus-4-7", tokens.TierFrontier},
		{"chat", "0.85", "auto", "gemini-2.5-pro", "claude-sonnet-4-6", tokens.TierMid},
		{"research", "0.65", "allow", "gemini-2.5-pro", "claude-sonnet-4-6", tokens.TierMid},
		{"review", "0.75", "auto", "gemini-3.5-pro", "claude-opus-4-7", tokens.TierFrontier},
	} {
		for provider, model := range map[string]string{"gemini": row.gemini, "vertex": row.gemini, "anthropic": row.anthropic} {
			s := resolve(t, preset.In{Flag: given(t, "session.task_class="+row.task, "agent.provider="+provider)})
			want := ", task class " + row.task
			for key, text := range map[string]string{"compaction.threshold": row.threshold, "session.ask": row.ask, "agent.model": model + ", " + string(row.tier)} {
				if got := value(t, s, key); got != text+want {
					t.Errorf("%s with %s: %s is %q, want %q", row.task, provider, key, got, text+want)
				}
			}
			// A task class changes neither the agentic tools nor their model.
			if s.AgenticTools.Source != preset.FromDefault || s.SmallModel.Source != preset.FromDefault {
				t.Errorf("%s sets agentic tools (%s) or their model (%s)", row.task, s.AgenticTools.Origin(), s.SmallModel.Origin())
			}
		}
	}
}

func TestEachTierHasItsThreshold(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		model string
		tier  tokens.Tier
		// what is due at which use of the window, in percent
		at40, at60, at70, at90 bool
	}{
		{"claude-opus-4-7", tokens.TierFrontier, false, false, false, true},
		{"gemini-3-pro-preview", tokens.TierFrontier, false, false, false, true},
		{"claude-sonnet-4-6", tokens.TierMid, false, false, true, true},
		{"gemini-2.5-pro", tokens.TierMid, false, false, true, true},
		{"claude-haiku-4-5", tokens.TierSmall, true, true, true, true},
		{"gemini-3-flash-preview", tokens.TierSmall, true, true, true, true},
		{"gemini-2.5-flash", tokens.TierSmall, true, true, true, true},
		{"house-llm", "", false, false, false, true},
	} {
		s := resolve(t, preset.In{App: preset.Values{Model: &row.model}})
		if s.Tier != row.tier || s.Threshold.Source != preset.FromPreset {
			t.Errorf("%s: tier %q, threshold from %s", row.model, s.Tier, s.Threshold.Origin())
		}
		for use, due := range map[float64]bool{0.40: row.at40, 0.60: row.at60, 0.70: row.at70, 0.90: row.at90} {
			if got := use >= s.Threshold.Value; got != due {
				t.Errorf("%s at %v: due %v, want %v (threshold %v)", row.model, use, got, due, s.Threshold.Value)
			}
		}
	}
}

func TestNamedPairs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]preset.Thresholds{
		"frontier": {0.85, 0.98}, "mid": {0.65, 0.98}, "small": {0.35, 0.98}, "standard": {0.70, 0.98}, "late": {0.95, 0.98}, "tier": {0.65, 0.98},
	} {
		s := resolve(t, preset.In{File: given(t, "agent.model=gemini-2.5-pro", "compaction.thresholds="+name)})
		if got := (preset.Thresholds{Compact: s.Threshold.Value, Block: s.BlockThreshold.Value}); got != want || s.Threshold.Origin() != "file compaction.thresholds" {
			t.Errorf("%s: %v from %s, want %v", name, got, s.Threshold.Origin(), want)
		}
		if pair, known := preset.PairOf(name); known != (name != "tier") || known && pair != want {
			t.Errorf("PairOf(%s): %v, %v", name, pair, known)
		}
	}
}

// TestPrecedence has one row per rule. Each says which value counts, and where it is from.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		flag, environment, file, app []string
		oneShot, piped               bool
		key, want                    string
	}{
		"flag over environment": {flag: []string{"compaction.threshold=0.5"}, environment: []string{"compaction.threshold=0.6"}, key: "compaction.threshold", want: "0.5, flag --threshold"},
		"environment over file": {environment: []string{"compaction.threshold=0.6"}, file: []string{"compaction.threshold=0.7"}, key: "compaction.threshold", want: "0.6, environment LONGSESSION_THRESHOLD"},
		"file over app":         {file: []string{"compaction.threshold=0.7"}, app: []string{"compaction.threshold=0.8"}, key: "compaction.threshold", want: "0.7, file compaction.threshold"},
		"app over task class":   {flag: []string{"session.task_class=debug"}, app: []string{"compaction.threshold=0.8"}, key: "compaction.threshold", want: "0.8, app compaction.threshold"},
		"task class over tier":  {file: []string{"session.task_class=review", "agent.model=claude-haiku-4-5"}, key: "compaction.threshold", want: "0.75, task class review"},

		"a tier's entry over a plain one":               {file: []string{"agent.model=claude-haiku-4-5", "compaction.threshold=0.85", "compaction.threshold_by_tier.small=0.3"}, key: "compaction.threshold", want: "0.3, file compaction.threshold_by_tier.small"},
		"a plain one over a pair":                       {file: []string{"compaction.thresholds=late", "compaction.threshold=0.5"}, key: "compaction.threshold", want: "0.5, file compaction.threshold"},
		"a nearer plain one over a tier's entry":        {flag: []string{"compaction.threshold=0.5"}, file: []string{"agent.model=claude-haiku-4-5", "compaction.threshold_by_tier.small=0.3"}, key: "compaction.threshold", want: "0.5, flag --threshold"},
		"a tier's entry over the task class":            {flag: []string{"session.task_class=debug"}, file: []string{"compaction.threshold_by_tier.frontier=0.8"}, key: "compaction.threshold", want: "0.8, file compaction.threshold_by_tier.frontier"},
		"another tier's entry is not used":              {flag: []string{"session.task_class=debug"}, file: []string{"compaction.threshold_by_tier.small=0.3"}, key: "compaction.threshold", want: "0.65, task class debug"},
		"0 is off, not unset":                           {flag: []string{"compaction.threshold=0"}, file: []string{"compaction.threshold=0.7"}, key: "compaction.threshold", want: "off, flag --threshold"},
		"a ceiling of 0 is off":                         {flag: []string{"agent.max_turn_cost_usd=0"}, file: []string{"session.preset=longrun"}, key: "agent.max_turn_cost_usd", want: "off, flag --max-turn-cost-usd"},
		"no compaction turns off what is farther":       {flag: []string{"compaction.enabled=false"}, file: []string{"compaction.threshold=0.7"}, key: "compaction.threshold", want: "off, flag --no-compact"},
		"no compaction turns off the turns":             {environment: []string{"compaction.enabled=false"}, key: "compaction.invocation_threshold", want: "off, environment LONGSESSION_COMPACT"},
		"a block of its own beside a pair":              {file: []string{"compaction.thresholds=late", "compaction.block_threshold=0.96"}, key: "compaction.block_threshold", want: "0.96, file compaction.block_threshold"},
		"a model set over the task's":                   {file: []string{"session.task_class=debug", "agent.model=claude-sonnet-4-6"}, key: "agent.model", want: "claude-sonnet-4-6, mid, file agent.model"},
		"a nearer provider over a model of another":     {flag: []string{"agent.provider=anthropic", "session.task_class=debug"}, file: []string{"agent.model=gemini-2.5-pro"}, key: "agent.model", want: "claude-opus-4-7, frontier, task class debug"},
		"a nearer provider of the same models":          {flag: []string{"agent.provider=vertex"}, file: []string{"agent.model=claude-sonnet-4-6"}, key: "agent.model", want: "claude-sonnet-4-6, mid, file agent.model"},
		"a nearer model over a provider":                {flag: []string{"agent.model=claude-haiku-4-5"}, file: []string{"agent.provider=gemini"}, key: "agent.provider", want: "anthropic, flag --model"},
		"the provider of a model":                       {app: []string{"agent.model=claude-haiku-4-5"}, key: "agent.provider", want: "anthropic, app agent.model"},
		"the small model of the provider":               {file: []string{"agent.model=claude-opus-4-7", "agent.agentic_tools=true"}, key: "agent.agentic_small_model", want: "claude-haiku-4-5, default tier small"},
		"a small model that is set":                     {flag: []string{"agent.agentic_small_model=gemini-2.5-flash-lite"}, file: []string{"session.preset=longrun"}, key: "agent.agentic_small_model", want: "gemini-2.5-flash-lite, flag --agentic-small-model"},
		"the small model is the agent's, if unknown":    {app: []string{"agent.model=house-llm", "agent.agentic_tools=true"}, key: "agent.agentic_small_model", want: "house-llm, default the agent's own model"},
		"long runs, attended: a turn":                   {file: []string{"session.preset=longrun"}, key: "agent.max_turn_cost_usd", want: "$0.5000, preset longrun"},
		"long runs, attended: a session":                {file: []string{"session.preset=longrun"}, key: "agent.max_session_cost_usd", want: "off, default"},
		"long runs, attended: the watchdog":             {file: []string{"session.preset=longrun"}, key: "safety.watchdog", want: "warn, preset longrun"},
		"long runs: iterations":                         {file: []string{"session.preset=longrun"}, key: "agent.max_tool_iterations", want: "25, preset longrun"},
		"long runs: checkpoints":                        {file: []string{"session.preset=longrun"}, key: "session.checkpoint", want: "model, preset longrun"},
		"long runs: compactions by the model":           {file: []string{"session.preset=longrun"}, key: "session.compact_context", want: "true, preset longrun"},
		"prices decide":                                 {key: "compaction.invocation_threshold", want: "price, default"},
		"prices decide again":                           {flag: []string{"compaction.invocation_threshold=price"}, file: []string{"compaction.invocation_threshold=7"}, key: "compaction.invocation_threshold", want: "price, flag --invocation-threshold"},
		"neither turns nor prices":                      {file: []string{"compaction.invocation_threshold=0"}, key: "compaction.invocation_threshold", want: "off, file compaction.invocation_threshold"},
		"no compaction beside turns in one block":       {file: []string{"compaction.enabled=false", "compaction.invocation_threshold=7"}, key: "compaction.invocation_threshold", want: "off, file compaction.enabled"},
		"no prices without compaction":                  {flag: []string{"compaction.enabled=false"}, key: "compaction.invocation_threshold", want: "off, flag --no-compact"},
		"long runs: agentic tools":                      {file: []string{"session.preset=longrun"}, key: "agent.agentic_tools", want: "true, preset longrun"},
		"long runs, unattended: a turn":                 {file: []string{"session.preset=longrun", "session.unattended=true"}, key: "agent.max_turn_cost_usd", want: "$1.0000, preset longrun"},
		"long runs, unattended: a session":              {file: []string{"session.preset=longrun", "session.unattended=true"}, key: "agent.max_session_cost_usd", want: "$20.0000, preset longrun"},
		"long runs, unattended: the watchdog":           {file: []string{"session.preset=longrun", "session.unattended=true"}, key: "safety.watchdog", want: "stop, preset longrun"},
		"long runs: a flag wins":                        {flag: []string{"agent.agentic_tools=false"}, file: []string{"session.preset=longrun"}, key: "agent.agentic_tools", want: "false, flag --agentic-tools"},
		"without a preset no ceiling":                   {key: "agent.max_turn_cost_usd", want: "off, default"},
		"one prompt is unattended":                      {oneShot: true, flag: []string{"agent.no_ceiling=true"}, key: "session.unattended", want: "true, default for one prompt"},
		"a pipe is unattended":                          {piped: true, flag: []string{"agent.no_ceiling=true"}, key: "safety.watchdog", want: "stop, default for an unattended run"},
		"a pipe that is attended":                       {piped: true, flag: []string{"session.unattended=false"}, key: "safety.watchdog", want: "warn, default"},
		"no ceiling is said":                            {flag: []string{"agent.no_ceiling=true", "session.unattended=true"}, key: "agent.max_session_cost_usd", want: "off, flag --no-ceiling"},
		"no ceiling over a farther one":                 {flag: []string{"agent.no_ceiling=true"}, file: []string{"agent.max_session_cost_usd=3"}, key: "agent.max_session_cost_usd", want: "off, flag --no-ceiling"},
		"a nearer ceiling over no ceiling":              {flag: []string{"agent.max_session_cost_usd=3"}, file: []string{"agent.no_ceiling=true"}, key: "agent.max_session_cost_usd", want: "$3.0000, flag --max-session-cost-usd"},
		"unattended runs refuse models without a price": {flag: []string{"agent.no_ceiling=true", "session.unattended=true"}, key: "agent.unpriced", want: "refuse, default for an unattended run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resolve(t, preset.In{
				Flag: given(t, row.flag...), Environment: given(t, row.environment...), File: given(t, row.file...), App: given(t, row.app...),
				OneShot: row.oneShot, Piped: row.piped,
			})
			if got := value(t, s, row.key); got != row.want {
				t.Errorf("%s is %q, want %q", row.key, got, row.want)
			}
		})
	}
}

// TestContradictionsAreRefused: the error names the key, its value, its source, and the other one.
func TestContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		flag, environment, file []string
		oneShot                 bool
		want                    []string
	}{
		"a threshold at the hard limit":         {flag: []string{"compaction.threshold=0.98"}, want: []string{"compaction.threshold is 0.98 (flag --threshold)", "block_threshold is 0.98 (preset tier mid)"}},
		"a hard limit under the threshold":      {file: []string{"compaction.block_threshold=0.6"}, want: []string{"compaction.block_threshold is 0.6 (file compaction.block_threshold)", "threshold is 0.65 (preset tier mid)"}},
		"a pair and a hard limit under it":      {file: []string{"compaction.thresholds=late", "compaction.block_threshold=0.9"}, want: []string{"compaction.threshold is 0.95 (file compaction.thresholds)", "block_threshold is 0.9"}},
		"no compaction, with a threshold":       {flag: []string{"compaction.enabled=false", "compaction.threshold=0.5"}, want: []string{"compaction.threshold is 0.5 (flag --threshold)", "compaction.enabled is false (flag --no-compact)"}},
		"a threshold nearer than no compaction": {flag: []string{"compaction.threshold=0.5"}, file: []string{"compaction.enabled=false"}, want: []string{"compaction.threshold is 0.5 (flag --threshold)", "(file compaction.enabled)"}},
		"a provider and a model of another":     {environment: []string{"agent.provider=anthropic", "agent.model=gemini-2.5-pro"}, want: []string{"agent.provider is anthropic (environment LONGSESSION_PROVIDER)", "gemini-2.5-pro (environment LONGSESSION_MODEL)", "gemini"}},
		"a small model without agentic tools":   {flag: []string{"agent.agentic_small_model=gemini-2.5-flash"}, file: []string{"agent.agentic_tools=false"}, want: []string{`agent.agentic_small_model is "gemini-2.5-flash" (flag --agentic-small-model)`, "agent.agentic_tools is false (file"}},
		"a turn above the session":              {flag: []string{"agent.max_turn_cost_usd=2", "agent.max_session_cost_usd=1"}, want: []string{"agent.max_turn_cost_usd is $2.0000 (flag --max-turn-cost-usd)", "agent.max_session_cost_usd is $1.0000"}},
		"a ceiling and no ceiling":              {file: []string{"agent.no_ceiling=true", "agent.max_session_cost_usd=1"}, want: []string{"agent.no_ceiling is true (file", "agent.max_session_cost_usd is $1.0000"}},
		"unattended without a ceiling":          {flag: []string{"session.unattended=true"}, want: []string{"agent.max_session_cost_usd is off (default)", "flag --unattended", "longrun", "agent.no_ceiling"}},
		"unattended with a ceiling of 0":        {oneShot: true, file: []string{"agent.max_session_cost_usd=0"}, want: []string{"agent.max_session_cost_usd is off (file agent.max_session_cost_usd)", "for one prompt"}},
		"unattended without a price":            {flag: []string{"session.unattended=true", "session.preset=longrun", "agent.model=house-llm"}, want: []string{"agent.max_session_cost_usd is $20.0000 (preset longrun)", "house-llm has no price", "agent.unpriced"}},
		"a ceiling that somebody relies on":     {file: []string{"agent.max_turn_cost_usd=1", "agent.model=house-llm"}, want: []string{"agent.max_turn_cost_usd is $1.0000 (file agent.max_turn_cost_usd)", "house-llm has no price"}},
		"a small model without a price":         {flag: []string{"session.unattended=true", "session.preset=longrun", "agent.agentic_small_model=house-llm"}, want: []string{"agent.max_session_cost_usd is $20.0000 (preset longrun)", "house-llm has no price", "give its price (the registry in an app), choose another agent.agentic_small_model,"}},
		"charged as a model without a price":    {flag: []string{"agent.unpriced=house-llm"}, want: []string{`agent.unpriced is "house-llm" (flag --unpriced)`, "no price"}},
		"two at once":                           {flag: []string{"compaction.threshold=0.99", "session.unattended=true"}, want: []string{"compaction.threshold is 0.99", "agent.max_session_cost_usd is"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := preset.Resolve(preset.In{Flag: given(t, row.flag...), Environment: given(t, row.environment...), File: given(t, row.file...), OneShot: row.oneShot})
			var refused *preset.SettingError
			if !errors.As(err, &refused) {
				t.Fatalf("not refused: %v", err)
			}
			if first := row.want[0]; !strings.Contains("\n"+strings.TrimPrefix(err.Error(), "settings: "), "\n"+first) {
				t.Errorf("%v\ndoes not refuse %q", err, first)
			}
			for _, part := range row.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v\nlacks %q", err, part)
				}
			}
		})
	}
}

// TestBadValuesAreRefusedInEverySource, used or not.
func TestBadValuesAreRefusedInEverySource(t *testing.T) {
	t.Parallel()
	var zero float64
	for name, row := range map[string]struct {
		values preset.Values
		want   string
	}{
		"a share above 1":      {preset.Values{Threshold: ptr(70.0)}, "compaction.threshold is 70 (file compaction.threshold)"},
		"NaN":                  {preset.Values{ThresholdByTier: struct{ Frontier, Mid, Small *float64 }{Small: ptr(zero / zero)}}, "compaction.threshold_by_tier.small is NaN"},
		"a negative ceiling":   {preset.Values{MaxTurnCost: ptr(-tokens.Cent)}, "agent.max_turn_cost_usd is -$0.0100"},
		"no hard limit":        {preset.Values{BlockThreshold: ptr(zero)}, "cannot be turned off"},
		"an unknown task":      {preset.Values{Task: ptr(preset.Task("play"))}, `session.task_class is play (file session.task_class): use debug, implement, chat, research or review`},
		"an unknown mode":      {preset.Values{Watchdog: ptr(watchdog.Mode("bark"))}, "use warn, note, stop or off"},
		"negative iterations":  {preset.Values{MaxToolIterations: ptr(-1)}, "agent.max_tool_iterations is -1"},
		"a model without name": {preset.Values{Model: ptr(" ")}, "name a model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := preset.Resolve(preset.In{Flag: preset.Values{Threshold: ptr(0.5)}, File: row.values})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want an error with %q", err, row.want)
			}
		})
	}
}

func TestTextsAreReadAndRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ key, text, want string }{
		{"compaction.threshold", "0,7", "use a share"},
		{"agent.max_turn_cost_usd", "NaN", "use an amount in USD"},
		{"agent.max_turn_cost_usd", "-1", "use an amount in USD"},
		{"agent.max_session_cost_usd", "0.00009", "less than a hundredth of a cent"},
		{"session.unattended", "perhaps", "use true or false"},
		{"agent.max_tool_iterations", "many", "use a whole number"},
		{"compaction.thresholds", "early", "use tier, frontier, mid, small, standard or late"},
		{"compaction.treshold", "0.7", "no such key"},
	} {
		var v preset.Values
		err := v.Set(row.key, row.text)
		var refused *preset.SettingError
		if !errors.As(err, &refused) || refused.Key != row.key || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s=%s: %v, want an error with %q", row.key, row.text, err, row.want)
		}
	}
}

func TestEveryKeyIsReadFromItsVariable(t *testing.T) {
	t.Parallel()
	examples := map[string]string{
		"session.preset": "longrun", "session.task_class": "debug", "agent.provider": "gemini", "agent.model": "gemini-2.5-pro",
		"agent.agentic_small_model": "gemini-2.5-flash", "session.ask": "allow", "compaction.thresholds": "late", "compaction.threshold": "0.5",
		"compaction.threshold_by_tier.frontier": "0.5", "compaction.threshold_by_tier.mid": "0.5", "compaction.threshold_by_tier.small": "0.5",
		"compaction.block_threshold": "0.9", "compaction.invocation_threshold": "3", "session.checkpoint": "off", "agent.max_turn_cost_usd": "0.50",
		"agent.max_session_cost_usd": "20", "agent.max_tool_iterations": "25", "agent.landing": "hard", "agent.unpriced": "warn", "safety.watchdog": "stop", "safety.small_tier_parent": "allow",
	}
	names, flags := map[string]bool{}, map[string]bool{}
	for _, key := range preset.Keys() {
		if names[key.Environment()] || flags[key.Flag] || key.Help == "" {
			t.Errorf("%s: its flag or variable is taken, or it has no help", key.Name)
		}
		names[key.Environment()], flags[key.Flag] = true, true
		example, found := examples[key.Name]
		if !found {
			example = "true"
		}
		v, err := preset.Environment(func(name string) (string, bool) {
			if name == key.Environment() {
				return example, true
			}
			return "", true // set to nothing
		})
		var file preset.Values
		if set := file.Set(key.Name, example); err != nil || set != nil {
			t.Errorf("%s=%s: %v, %v", key.Environment(), example, err, set)
		}
		if fmt.Sprint(v) == fmt.Sprint(preset.Values{}) {
			t.Errorf("%s=%s sets nothing", key.Environment(), example)
		}
	}
	_, err := preset.Environment(func(name string) (string, bool) { return "?", true })
	if err == nil || !strings.Contains(err.Error(), "compaction.threshold is \"?\" (environment LONGSESSION_THRESHOLD)") || !strings.Contains(err.Error(), "safety.watchdog") {
		t.Errorf("bad variables: %v", err)
	}
}

func TestRetiredModelsAreReplacedAndReported(t *testing.T) {
	t.Parallel()
	day := func(text string) time.Time {
		d, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, row := range map[string]struct {
		model, provider, today, want string
		says                         string
	}{
		"gone":                     {model: "claude-3-5-sonnet-20241022", today: "2026-11-22", want: "claude-sonnet-4-6", says: "which was turned off"},
		"the last day":             {model: "models/gemini-2.5-flash", today: "2026-11-30", want: "models/gemini-2.5-flash", says: "which will be turned off"},
		"the day":                  {model: "models/gemini-2.5-flash", today: "2026-12-01", want: "gemini-3.1-flash-lite", says: "which was turned off"},
		"a sibling stays":          {model: "gemini-2.5-flash-lite", today: "2026-12-01", want: "gemini-2.5-flash-lite"},
		"a newer version stays":    {model: "claude-opus-4-7", today: "2026-12-01", want: "claude-opus-4-7"},
		"Vertex has its own dates": {model: "gemini-2.5-pro", provider: "vertex", today: "2026-12-01", want: "gemini-2.5-pro"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := preset.In{Today: day(row.today), Flag: given(t, "agent.model="+row.model, "safety.small_tier_parent=allow")}
			if row.provider != "" {
				in.File = given(t, "agent.provider="+row.provider)
			}
			s := resolve(t, in)
			if s.Model.Value != row.want {
				t.Errorf("the model is %s, want %s", s.Model.Value, row.want)
			}
			said := row.says == ""
			for _, n := range s.Notes {
				said = said || strings.Contains(n, row.says) && strings.Contains(n, row.model) && strings.Contains(n, "flag --model")
				if row.says == "" {
					t.Errorf("a note: %s", n)
				}
			}
			if !said {
				t.Errorf("not reported: %v", s.Notes)
			}
		})
	}
}

// TestAModelOfTheAppIsNeverReplaced: the app calls the one that it has, so settings that name another would be about nothing.
func TestAModelOfTheAppIsNeverReplaced(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		in   preset.In
		says string
	}{
		"gone":                {preset.In{App: given(t, "agent.model=claude-sonnet-4-20250514")}, "turned off on"},
		"named in a file too": {preset.In{App: given(t, "agent.model=claude-sonnet-4-20250514"), File: given(t, "agent.model=models/Claude-Sonnet-4-20250514")}, "turned off on"},
		"still to come":       {preset.In{App: given(t, "agent.model=gemini-2.5-pro")}, "will turn off on"},
		"of agentic tools":    {preset.In{App: given(t, "agent.agentic_tools=true", "agent.agentic_small_model=gemini-2.0-flash")}, "turned off on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resolve(t, row.in)
			if want := row.in.App.Model; want != nil && !strings.EqualFold(strings.TrimPrefix(s.Model.Value, "models/"), *want) {
				t.Errorf("the model is %s, want %s", s.Model.Value, *want)
			}
			if want := row.in.App.SmallModel; want != nil && s.SmallModel.Value != *want {
				t.Errorf("the small model is %s, want %s", s.SmallModel.Value, *want)
			}
			if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, row.says) && strings.Contains(n, "change the app to") }) {
				t.Errorf("no warning: %v", s.Notes)
			}
		})
	}
}

// TestReplacementsAreUsable: they have a window, a tier and a price, and are not retired on the same day.
func TestReplacementsAreUsable(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"claude-3-5-sonnet", "claude-3-opus-20240229", "claude-3-7-sonnet", "claude-3-5-haiku", "claude-opus-4-20250514", "claude-sonnet-4-0",
		"claude-opus-4-1", "gemini-1.5-pro", "gemini-1.5-flash-002", "gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-2.5-pro-preview-05-06", "gemini-2.5-flash"} {
		of, known := preset.RetirementOf(model)
		row, found := tokens.Lookup(of.Instead)
		if !known || !found || !row.Priced() || row.Tier == "" {
			t.Errorf("%s: %+v, whose row is %+v", model, of, row)
		}
		if next, again := preset.RetirementOf(of.Instead); again && next.Day <= of.Day {
			t.Errorf("%s is replaced by %s, which is turned off on %s", model, of.Instead, next.Day)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		file, want []string
	}{
		"an unknown model":       {[]string{"agent.model=house-llm"}, []string{"house-llm (file agent.model)", "0.85", "128000 tokens is assumed"}},
		"no small model":         {[]string{"agent.model=house-llm", "agent.agentic_tools=true"}, []string{"agentic tools use house-llm itself"}},
		"no price":               {[]string{"agent.model=gemini-pro-latest", "session.preset=longrun"}, []string{"$0.5000 (preset longrun)", "gemini-pro-latest has no price"}},
		"the price of another":   {[]string{"session.task_class=debug", "session.preset=longrun"}, []string{"gemini-3.5-pro has no price: it is charged as gemini-3.1-pro-preview"}},
		"a ceiling that is dead": {[]string{"agent.max_session_cost_usd=0.10", "session.preset=longrun"}, []string{"agent.max_turn_cost_usd is $0.5000 (preset longrun)", "never reached"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resolve(t, preset.In{File: given(t, row.file...)})
			var text string
			if at := slices.IndexFunc(s.Notes, func(n string) bool { return strings.Contains(n, row.want[0]) }); at >= 0 {
				text = s.Notes[at]
			}
			for _, part := range row.want {
				if !strings.Contains(text, part) {
					t.Errorf("the note %q lacks %q", text, part)
				}
			}
			if !strings.Contains(strings.Join(strings.Fields(s.Explain()), " "), strings.Join(strings.Fields(text), " ")) {
				t.Errorf("Explain lacks the note:\n%s", s.Explain())
			}
		})
	}
}

// TestExplainIsNarrowAndComplete: every key but those that are folded into another has its line.
func TestExplainIsNarrowAndComplete(t *testing.T) {
	t.Parallel()
	s := resolve(t, preset.In{
		Flag: given(t, "agent.model=us.anthropic.claude-sonnet-4-6", "session.preset=longrun"), Environment: given(t, "agent.max_session_cost_usd=7"),
	})
	text := s.Explain()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	folded := map[string]bool{"compaction.enabled": true, "compaction.thresholds": true, "agent.no_ceiling": true,
		"compaction.threshold_by_tier.frontier": true, "compaction.threshold_by_tier.mid": true, "compaction.threshold_by_tier.small": true}
	var want []string
	for _, key := range preset.Keys() {
		if !folded[key.Name] {
			want = append(want, key.Name)
		}
	}
	for i, l := range s.Lines() {
		if i >= len(want) || l.Key != want[i] || l.Origin == "" || !strings.Contains(text, l.Key+" = "+l.Value) {
			t.Fatalf("line %d is %+v; keys %v", i, l, want)
		}
	}
	if len(s.Lines()) != len(want) {
		t.Errorf("%d lines for %d keys", len(s.Lines()), len(want))
	}
}

func ptr[T any](v T) *T { return &v }
