package config

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Kind is the type of a value in a file.
type Kind string

// The kinds of values.
const (
	Text   Kind = "text"
	Toggle Kind = "true or false"
	Count  Kind = "whole number"
	Turns  Kind = "whole number or text"
	Share  Kind = "number from 0 to 1"
	Money  Kind = "amount in USD"
)

// Key is one setting.
type Key struct {
	Name    string // in a file: "compaction.threshold" is threshold in the table compaction
	Flag    string // without dashes; "" for another name of a key
	Negated bool   // the flag turns the value off: --no-compact
	Help    string
	Kind    Kind
	Default string // in words
	// Effect is the field of longsession.Config that the value sets, or, in brackets, who follows it.
	Effect string
	// SameAs is the key that this is another name of. Such a name has no flag and no variable.
	SameAs string
}

// Environment is the name of the variable, "" if the key is another name.
func (k Key) Environment() string {
	if k.Flag == "" {
		return ""
	}
	return preset.Key{Name: k.Name, Flag: k.Flag, Negated: k.Negated}.Environment()
}

// option is a key with what it does. parse and apply are nil for the keys of package preset, and for other names.
type option struct {
	Key
	parse func(text string) (value any, reason string)
	apply func(cfg *longsession.Config, value any)
}

// Keys lists every key, those of package preset first. The result is the caller's.
func Keys() []Key {
	keys := make([]Key, len(options))
	for i, o := range options {
		keys[i] = o.Key
	}
	return keys
}

// options are all keys.
var options = slices.Concat(ofPreset(), own, aliases)

// row is what this package knows about a key of package preset.
type row struct {
	kind             Kind
	otherwise, field string
}

// ofPreset returns the keys of package preset. A test requires that each of them has a row.
func ofPreset() []option {
	rows := map[string]row{
		"session.preset":                        {Text, "none", "(all that the preset names)"},
		"session.task_class":                    {Text, "none", "(the model, the threshold and session.ask)"},
		"session.unattended":                    {Toggle, "true for one prompt and for a pipe", "Guard"},
		"agent.provider":                        {Text, "that of the model, else gemini", "(the models that are chosen)"},
		"agent.model":                           {Text, "the provider's for the tier of the task class, else mid", "Model"},
		"agent.agentic_small_model":             {Text, "the provider's of the small tier", "(tools that read in a context of their own)"},
		"agent.agentic_tools":                   {Toggle, "false", "(tools that read in a context of their own)"},
		"session.ask":                           {Text, "auto", "(the confirmations of tools)"},
		"compaction.enabled":                    {Toggle, "true", "Compaction.SafetyRatio, Compaction.InvocationThreshold"},
		"compaction.thresholds":                 {Text, "tier", "Budget.Thresholds"},
		"compaction.threshold":                  {Share, "by tier: 0.85, 0.65, 0.35", "Compaction.SafetyRatio, Budget.Thresholds.Compact"},
		"compaction.threshold_by_tier.frontier": {Share, "0.85", "Compaction.SafetyRatio, Budget.Thresholds.Compact"},
		"compaction.threshold_by_tier.mid":      {Share, "0.65", "Compaction.SafetyRatio, Budget.Thresholds.Compact"},
		"compaction.threshold_by_tier.small":    {Share, "0.35", "Compaction.SafetyRatio, Budget.Thresholds.Compact"},
		"compaction.block_threshold":            {Share, "0.98", "Compaction.BlockRatio, Budget.Thresholds.Block"},
		"compaction.invocation_threshold":       {Turns, `"price"`, "Compaction.InvocationThreshold"},
		"session.checkpoint":                    {Text, "operator", "ContextTools.Checkpoint"},
		"session.compact_context":               {Toggle, "false", "ContextTools.OmitCompactContext"},
		"agent.max_turn_cost_usd":               {Money, "off", "Guard.Turn.USD"},
		"agent.max_session_cost_usd":            {Money, "off", "Guard.Session.USD"},
		"agent.no_ceiling":                      {Toggle, "false", "(unattended runs without a ceiling)"},
		"agent.max_tool_iterations":             {Count, "off", "Guard.Turn.ModelCalls"},
		"agent.landing":                         {Text, "soft", "Guard.Landing"},
		"agent.unpriced":                        {Text, "warn; refuse for an unattended run", "Guard.Unpriced, Guard.PriceAs"},
		"safety.watchdog":                       {Text, "warn; stop for an unattended run", "Guard.Watchdog.Mode"},
		"safety.small_tier_parent":              {Text, "warn", "(the start)"},
	}
	var all []option
	for _, k := range preset.Keys() {
		r := rows[k.Name]
		all = append(all, option{Key: Key{Name: k.Name, Flag: k.Flag, Negated: k.Negated, Help: k.Help, Kind: r.kind, Default: r.otherwise, Effect: r.field}})
	}
	return all
}

// own are the keys of this package.
var own = []option{
	count("compaction.overlap_size", "overlap-size", 1, "2", "Compaction.OverlapSize", "newest turns that always stay word for word",
		func(c *longsession.Config, n int) { c.Compaction.OverlapSize = n }),
	count(tokenThreshold, "token-threshold", 0, "0", "Compaction.TokenThreshold", "compaction begins at this many tokens, if that is less than the threshold; 0 leaves it to the threshold",
		func(c *longsession.Config, n int) {
			if n > 0 {
				c.Compaction.TokenThreshold = n
			}
		}),
	text(promptTemplate, "prompt-template", "the built-in one", "Compaction.PromptTemplate", "the prompt for summaries, with {{history}} in it; file://NAME reads it from a file", func(s string) string {
		if s == "" {
			return "write the prompt, or file://NAME"
		}
		return ""
	}, func(c *longsession.Config, s string) { c.Compaction.PromptTemplate = s }),
	choice(promptPack, "prompt-pack", "default", "Compaction.Pack", "the built-in wording of the prompt for summaries", func(c *longsession.Config, s string) { c.Compaction.Pack = summarizer.Pack(s) },
		string(summarizer.PackDefault), string(summarizer.PackHandover), string(summarizer.PackIntent), string(summarizer.PackCheckpoint)),
	count(contextBudget, "context-budget", 1, "the window of the model", "Compaction.ContextWindow, Budget.ContextWindow, ToolSearch.ContextWindow", "tokens that a request and its answer may have together",
		func(c *longsession.Config, n int) {
			c.Compaction.ContextWindow, c.Budget.ContextWindow, c.ToolSearch.ContextWindow = n, n, n
		}),
	count(maxOutput, "max-output-tokens", 0, "the longest answer of the model, at most a tenth of the window", "Compaction.MaxOutputTokens, Budget.MaxOutputTokens, ToolSearch.MaxOutputTokens", "tokens kept free for the answer; 0 keeps none free",
		func(c *longsession.Config, n int) {
			n = orOff(n)
			c.Compaction.MaxOutputTokens, c.Budget.MaxOutputTokens, c.ToolSearch.MaxOutputTokens = n, n, n
		}),
	count(offload, "result-offload-threshold", 0, "4096", "ToolResults.StubAbove", "bytes of a tool result from which the model sees its beginning, and reads the rest with read_result; 0 is off",
		func(c *longsession.Config, n int) { c.ToolResults.StubAbove = orOff(n) }),
	share("agent.tool_deferral_threshold", "tool-deferral-threshold", "0.1", "ToolSearch.Threshold", "share of the effective window that declarations of tools may have before some are found by tool_search; 0 is off",
		func(c *longsession.Config, f float64) { c.ToolSearch.Threshold = orOff(f) }),
	text("agent.base_url", "base-url", "none", "(the command: a server that speaks the API of OpenAI)", "address of a server with the API of OpenAI, such as http://localhost:11434/v1", checkURL, func(*longsession.Config, string) {}),
	count(serverTimeout, "server-timeout", 1, "300", "(the command: the server of the model)", "seconds that the model's server may send nothing before a call fails; a local model may read a long prompt for minutes",
		func(*longsession.Config, int) {}),
	count(resultTokens, "max-tool-result-tokens", 32, "8000", "ToolResults.MaxTokens", "tokens of a tool result that the model sees; set, it replaces the limits in bytes and lines that are not set",
		func(c *longsession.Config, n int) { c.ToolResults.MaxTokens = n }),
	choice(truncation, "tool-result-truncation", "lines", "ToolResults.Strategy", "the part of a long tool result that stays", func(c *longsession.Config, s string) { c.ToolResults.Strategy = toolresult.Strategy(s) },
		string(toolresult.Head), string(toolresult.Tail), string(toolresult.Both), string(toolresult.Lines)),
	count(resultBytes, "tool-result-max-bytes", 64, "10240", "ToolResults.MaxBytes", "bytes of a tool result that the model sees",
		func(c *longsession.Config, n int) { c.ToolResults.MaxBytes = n }),
	count(resultLines, "tool-result-max-lines", 1, "256", "ToolResults.MaxLines", "lines of a tool result that the model sees",
		func(c *longsession.Config, n int) { c.ToolResults.MaxLines = n }),
	count(headLines, "tool-result-head-lines", 0, "128", "ToolResults.HeadLines", "how many of these are at its beginning",
		func(c *longsession.Config, n int) { c.ToolResults.HeadLines = orOff(n) }),
	count(tailLines, "tool-result-tail-lines", 0, "128", "ToolResults.TailLines", "how many of these are at its end",
		func(c *longsession.Config, n int) { c.ToolResults.TailLines = orOff(n) }),
	count(keepFirst, "tool-result-keep-first", 0, "2", "Masking.KeepFirst", "oldest tool results that are not masked; with keep-last 0, too, none is masked",
		func(c *longsession.Config, n int) { c.Masking.KeepFirst = orOff(n) }),
	count(keepLast, "tool-result-keep-last", 0, "5", "Masking.KeepLast", "newest tool results that are not masked",
		func(c *longsession.Config, n int) { c.Masking.KeepLast = orOff(n) }),
	choice("session.on_disconnect", "on-disconnect", "pause", "(the command: the session stays in its file, to be resumed)", "what happens to a session when its terminal goes away", func(*longsession.Config, string) {}, "pause"),
	toggle(callsAlone, "watchdog-calls-alone", "false", "Guard.Watchdog.CallsAlone", "the watchdog also reports equal calls whose results differ; with safety.watchdog = 'warn' only", func(c *longsession.Config, on bool) { c.Guard.Watchdog.CallsAlone = on }),
	negated(toggle("session.recall", "no-recall", "true", "Recall.Disabled", "no search of earlier messages by the agent", func(c *longsession.Config, on bool) { c.Recall.Disabled = !on })),
}

// The keys that [Resolve] looks at together.
const (
	tokenThreshold = "compaction.token_threshold"
	promptTemplate = "compaction.prompt_template"
	promptPack     = "compaction.prompt_pack"
	contextBudget  = "agent.context_budget"
	serverTimeout  = "agent.server_timeout"
	maxOutput      = "agent.max_output_tokens"
	offload        = "agent.result_offload_threshold"
	resultTokens   = "session.context.max_tool_result_tokens"
	truncation     = "session.context.tool_result_truncation"
	resultBytes    = "session.context.tool_result_max_bytes"
	resultLines    = "session.context.tool_result_max_lines"
	headLines      = "session.context.tool_result_head_lines"
	tailLines      = "session.context.tool_result_tail_lines"
	callsAlone     = "safety.watchdog_calls_alone"
	keepFirst      = "session.context.tool_result_keep_first"
	keepLast       = "session.context.tool_result_keep_last"
)

// aliases are names that files of other programs have for the same values.
var aliases = []option{
	alias("compaction.safety_ratio", "compaction.threshold", Share),
	alias("agent.compact_trigger", "compaction.threshold", Share),
	alias("agent.hard_block", "compaction.block_threshold", Share),
	alias("session.context.max_history_tokens", tokenThreshold, Count),
	alias("session.max_tool_iterations", "agent.max_tool_iterations", Count),
}

func alias(name, of string, kind Kind) option {
	return option{Key: Key{Name: name, Kind: kind, SameAs: of, Help: "another name of " + of}}
}

// find returns the option of a name.
func find(name string) (*option, bool) {
	for i := range options {
		if options[i].Name == name {
			return &options[i], true
		}
	}
	return nil, false
}

func text(name, flag, otherwise, field, help string, check func(string) string, apply func(*longsession.Config, string)) option {
	return option{
		Key:   Key{Name: name, Flag: flag, Help: help, Kind: Text, Default: otherwise, Effect: field},
		parse: func(s string) (any, string) { return s, check(s) },
		apply: func(c *longsession.Config, v any) { apply(c, v.(string)) },
	}
}

func choice(name, flag, otherwise, field, help string, apply func(*longsession.Config, string), from ...string) option {
	return text(name, flag, otherwise, field, help+": "+strings.Join(from, ", "), func(s string) string {
		switch {
		case slices.Contains(from, s):
			return ""
		case len(from) == 1:
			return "use " + from[0]
		}
		return "use " + strings.Join(from[:len(from)-1], ", ") + " or " + from[len(from)-1]
	}, apply)
}

func toggle(name, flag, otherwise, field, help string, apply func(*longsession.Config, bool)) option {
	return option{
		Key: Key{Name: name, Flag: flag, Help: help, Kind: Toggle, Default: otherwise, Effect: field},
		parse: func(s string) (any, string) {
			on, err := strconv.ParseBool(s)
			if err != nil {
				return nil, "use true or false"
			}
			return on, ""
		},
		apply: func(c *longsession.Config, v any) { apply(c, v.(bool)) },
	}
}

// negated makes the flag turn the value off.
func negated(o option) option {
	o.Negated = true
	return o
}

func count(name, flag string, least int, otherwise, field, help string, apply func(*longsession.Config, int)) option {
	return option{
		Key: Key{Name: name, Flag: flag, Help: help, Kind: Count, Default: otherwise, Effect: field},
		parse: func(s string) (any, string) {
			n, err := strconv.Atoi(s)
			if err != nil || n < least || n > math.MaxInt32 {
				return nil, fmt.Sprintf("use a whole number from %d to %d", least, math.MaxInt32)
			}
			return n, ""
		},
		apply: func(c *longsession.Config, v any) { apply(c, v.(int)) },
	}
}

func share(name, flag, otherwise, field, help string, apply func(*longsession.Config, float64)) option {
	return option{
		Key: Key{Name: name, Flag: flag, Help: help, Kind: Share, Default: otherwise, Effect: field},
		parse: func(s string) (any, string) {
			f, err := strconv.ParseFloat(s, 64)
			switch {
			case err != nil || !(f >= 0 && f <= 1):
				return nil, "use a share of the effective window, from 0 to 1"
			case f == 0 && strings.ContainsAny(s, "123456789"):
				return nil, "it rounds to 0, which is off: write 0, or more"
			}
			return f, ""
		},
		apply: func(c *longsession.Config, v any) { apply(c, v.(float64)) },
	}
}

func checkURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "use an address such as http://localhost:11434/v1"
	case u.User != nil:
		return "it has a user or a password in it: set the key in the environment instead"
	}
	return ""
}

// orOff returns Off, which has the same value in all layers, for 0: the layers take 0 for the default.
func orOff[N int | float64](n N) N {
	if n == 0 {
		return compaction.Off
	}
	return n
}
