package longsession

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

// Config holds what the layers share, and the settings of each layer. The zero value of a layer's
// settings is that layer with its defaults. New copies it.
type Config struct {
	// Model is the agent's model. Compaction derives the context window from its name, and has it
	// write the summaries. Required unless Compaction has a Model or a Summarizer of its own.
	Model model.LLM
	// Registry holds windows, limits and prices of models, for every layer that needs them. If nil,
	// the built-in table of package tokens is used.
	Registry *tokens.Registry
	// Compaction configures the summaries. Its own Model, AgentModel and Registry take precedence
	// over the fields above. Its fields Cut, Fixed and Fits belong to the stack, unless the layer that uses
	// them is disabled. So do RecallTool and RecallOffered, unless Recall is disabled.
	Compaction compaction.Config
	// ToolResults configures how long a tool result may be in a prompt. The stack offers read_result,
	// so results are always Readable: the model can read each of them whole. In a context window below
	// 82,000 tokens the default of StubAbove is lower, as long as the window is known from the start: 5%
	// of the window's tokens, in bytes, but at least 1,024. In one below 32,768, a call of read_result
	// returns at most half a byte for each token of the window, but at least 1,024 bytes.
	ToolResults toolresult.Config
	// Masking configures how old tool results give way to a short text.
	Masking toolresult.Masking
	// Results keeps whole results that the session service does not have: those of agents that run
	// as tools (package agenttool of ADK). If nil, they are kept in memory, up to 64 MiB, until the
	// agent has answered and newer ones need the space.
	Results store.Store
	// Budget configures how requests are measured and kept within the context window. Its own
	// Registry takes precedence over the field above. ContextWindow and MaxOutputTokens of Budget,
	// Compaction and ToolSearch are the same numbers, so it is enough to set one of each. Explicit
	// Thresholds also hold for compaction: Compact becomes its SafetyRatio, and Block its BlockRatio,
	// unless it is Off: compaction always has a hard limit. The fields Compactor, Masker, Cutter,
	// ReadResult and Store belong to the stack, and so does Sections unless LayerPrompt is disabled.
	Budget budget.Config
	// Prompt configures the sections that are added to the system instruction, such as AGENTS.md, and those
	// at the end of a request. Without sections it adds nothing.
	Prompt prompt.Config
	// ToolSearch configures when declarations of tools are taken out of requests, to be found by the model
	// when it needs them. Only tools of MCP servers and of skills are, see package toolsearch. Its own
	// Registry takes precedence over the field above. ContextWindow and MaxOutputTokens are the same
	// numbers as in Budget and Compaction.
	ToolSearch toolsearch.Config
	// Guard configures limits on money, model calls, tokens and time, and the watchdog for agents that repeat
	// themselves. Without limits the guard stops no agent: it counts what each session spends, and keeps the
	// totals in the session's state. Guard.Registry takes precedence over the field above.
	Guard guard.Config
	// ContextTools offers the model tools by which it tends its own context: mark_task_done and
	// compact_context. They are off unless Enabled is set, because each request then declares them.
	ContextTools contexttool.Config
	// Recall offers the model recall and recall_turn, by which it searches the session's earlier messages, word for word
	// as they were said. Summaries name recall, and requests that show a summary declare both; before the first one
	// nothing is declared and nothing is indexed. All requests of an agent whose instruction names one of them declare
	// them, and all with Recall.AcrossSessions. An agent that has a tool of its own with one of these names keeps it and
	// is offered neither, and the log says so once. Recall.Disabled turns the tools off. Recall.Redact and
	// Compaction.Redact are the same function, so it is enough to set one of them, and it holds without the tools, too.
	Recall recall.Config
	// Disable turns layers off. An app with a disabled layer sends the same bytes as one without it.
	// The settings of a disabled layer are ignored, except that limits of the guard are refused then.
	Disable []Layer
}

// Layer names a layer that can be turned off.
type Layer string

// The layers. Compaction cannot be turned off: to have it summarize only on request, set its triggers to
// Off.
const (
	// LayerToolResults cuts and masks tool results, and offers read_result.
	LayerToolResults Layer = "toolresults"
	// LayerBudget measures requests, keeps them within the context window, and recovers from
	// overflows.
	LayerBudget Layer = "budget"
	// LayerPrompt adds sections to requests, and marks where a cache may end.
	LayerPrompt Layer = "prompt"
	// LayerToolSearch defers declarations of tools, and offers tool_search and tool_call.
	LayerToolSearch Layer = "toolsearch"
	// LayerGuard counts what is spent, and stops agents at their limits.
	LayerGuard Layer = "guard"
)

// layers are all of them, in the order in which errors name them.
var layers = []Layer{LayerToolResults, LayerBudget, LayerPrompt, LayerToolSearch, LayerGuard}

// ConfigError is one refused value: Field names it as the configuration does, such as "Budget.ContextWindow",
// Value is as it was given, and Reason says what is wrong with it, and what to do. The layers and all other
// packages have the same type, so errors.As finds what any of them refuses.
type ConfigError = configerr.Error

// uses reports whether a layer is on.
func (c *Config) uses(layer Layer) bool { return !slices.Contains(c.Disable, layer) }

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
		return Config{}, &ConfigError{Field: "settings.Model", Value: "", Reason: "make the settings with preset.Resolve"}
	case adk.IsNil(llm):
		return Config{}, &ConfigError{Field: "Model", Reason: "give the model that the settings name: " + s.Model.Value}
	case !sameModel(llm.Name(), s.Model.Value):
		return Config{}, &ConfigError{Field: "Model", Value: llm.Name(), Reason: fmt.Sprintf(
			"the settings are for %s (%s), whose tier decides the thresholds: give that model, or name this one in the settings", s.Model.Value, s.Model.Origin())}
	}
	cfg := Config{Model: llm}
	cfg.Compaction.SafetyRatio = orOff(s.Threshold.Value)
	cfg.Compaction.BlockRatio = s.BlockThreshold.Value
	cfg.Compaction.InvocationThreshold = s.InvocationThreshold.Value
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
		Landing:  s.Landing.Value,
		Watchdog: watchdog.Config{Mode: s.Watchdog.Value},
	}
	if n := s.MaxToolIterations.Value; n > 0 {
		cfg.Turn.ModelCalls = n + 1
	}
	switch as := s.Unpriced.Value; as {
	case string(guard.UnpricedWarn), string(guard.UnpricedRefuse):
		cfg.Unpriced = guard.UnpricedPolicy(as)
	default:
		cfg.Unpriced, cfg.PriceAs = guard.UnpricedAs, as
	}
	return cfg
}

// contextToolsOf returns the tools by which the model tends its own context.
func contextToolsOf(s preset.Settings) contexttool.Config {
	checkpoint := s.Checkpoint.Value
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
	return compaction.Off
}

// sameModel compares names without publishers and paths: "models/gemini-2.5-pro" is "gemini-2.5-pro".
func sameModel(a, b string) bool {
	return strings.EqualFold(a[strings.LastIndexByte(a, '/')+1:], b[strings.LastIndexByte(b, '/')+1:])
}
