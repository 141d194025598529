package longsession

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/budget"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/tokens"
	"github.com/adk-go-ext/longsession/toolresult"
	"github.com/adk-go-ext/longsession/toolresult/store"
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
	// over the fields above. Its fields Cut and Fixed belong to the stack, unless the layer that uses
	// them is disabled.
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
	// Registry takes precedence over the field above. ContextWindow and MaxOutputTokens of Budget and
	// Compaction are the same numbers, so it is enough to set one of each. Explicit Thresholds also
	// hold for compaction: Compact becomes its SafetyRatio, and Block its BlockRatio, unless it is Off:
	// compaction always has a hard limit. The fields
	// Compactor, Masker, Cutter, ReadResult and Store belong to the stack.
	Budget budget.Config
	// Disable turns layers off. An app with a disabled layer sends the same bytes as one without it.
	// The settings of a disabled layer are ignored.
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
)

// ConfigError is one value of a [Config] that contradicts another one. Values that a layer refuses by
// itself have the typed error of that layer.
type ConfigError struct {
	Field  string // as the configuration names it, such as "Budget.ContextWindow"
	Value  any    // as it was given
	Reason string // what is wrong with it, and what to do
}

// Error names the field, its value and what is wrong.
func (e *ConfigError) Error() string { return fmt.Sprintf("%s is %v: %s", e.Field, e.Value, e.Reason) }

// uses reports whether a layer is on.
func (c *Config) uses(layer Layer) bool { return !slices.Contains(c.Disable, layer) }

// resolve completes the settings of the layers by what they share. Its error joins every contradiction.
func (c Config) resolve() (Config, error) {
	r := resolver{cfg: &c}
	for _, layer := range c.Disable {
		if layer != LayerToolResults && layer != LayerBudget {
			r.refuse("Disable", string(layer), "no layer has this name; there are %s and %s", LayerToolResults, LayerBudget)
		}
	}
	r.models()
	r.owned()
	if c.uses(LayerBudget) {
		b, s := &c.Budget, &c.Compaction
		same(&r, "ContextWindow", &b.ContextWindow, &s.ContextWindow)
		same(&r, "MaxOutputTokens", &b.MaxOutputTokens, &s.MaxOutputTokens)
		r.thresholds()
	} else {
		c.Budget = budget.Config{Registry: c.Budget.Registry, ContextWindow: c.Compaction.ContextWindow, MaxOutputTokens: c.Compaction.MaxOutputTokens}
	}
	return c, errors.Join(r.problems...)
}

// resolver collects what is wrong with a config.
type resolver struct {
	cfg      *Config
	problems []error
}

func (r *resolver) refuse(field string, value any, reason string, args ...any) {
	r.problems = append(r.problems, &ConfigError{field, value, fmt.Sprintf(reason, args...)})
}

// models gives each layer the shared registry, and compaction the model.
func (r *resolver) models() {
	c, cfg := r.cfg, &r.cfg.Compaction
	if cfg.Registry == nil {
		cfg.Registry = c.Registry
	}
	if c.Budget.Registry == nil {
		c.Budget.Registry = c.Registry
	}
	switch {
	case c.Model == nil:
	case cfg.Model == nil && cfg.Summarizer == nil:
		cfg.Model = c.Model
	case cfg.AgentModel == "" && cfg.AgentModelFunc == nil:
		// Something else writes the summaries, so compaction cannot see which model the agent has.
		cfg.AgentModel = c.Model.Name()
	}
}

// owned refuses values in fields that the stack itself fills.
func (r *resolver) owned() {
	c := r.cfg
	if c.uses(LayerToolResults) && c.Compaction.Cut != nil {
		r.refuse("Compaction.Cut", "set", "the layer of tool results cuts them: configure ToolResults, or disable %s", LayerToolResults)
	}
	if !c.uses(LayerBudget) {
		return
	}
	if c.Compaction.Fixed != nil {
		r.refuse("Compaction.Fixed", "set", "the budget measures the fixed part of requests: remove it, or disable %s", LayerBudget)
	}
	for _, field := range []struct {
		name    string
		set     bool
		instead string
	}{
		{"Compactor", c.Budget.Compactor != nil, "the stack's session service compacts"},
		{"Masker", c.Budget.Masker != nil, "set Masking"},
		{"Cutter", c.Budget.Cutter != nil, "set ToolResults"},
		{"ReadResult", c.Budget.ReadResult != nil, "the stack has its own"},
		{"Store", c.Budget.Store != nil, "set Results"},
	} {
		if field.set {
			r.refuse("Budget."+field.name, "set", "the stack fills it: %s", field.instead)
		}
	}
}

// same sets a number that is 0 to the other one. It refuses two different numbers.
func same[N int | float64](r *resolver, name string, b, s *N) {
	switch {
	case *b == 0:
		*b = *s
	case *s == 0:
		*s = *b
	case *b != *s:
		r.refuse("Budget."+name, *b, "Compaction.%s is %v, and both mean the same: set one of them", name, *s)
	}
}

// The default size over which a result becomes a stub is that of package toolresult, and less in a small
// window, where a few results of that size would fill what compaction leaves. On recorded coding sessions in
// a window of 32,000, the lower size saved another tenth of the tokens.
const (
	stubAbove         = 4_096
	leastStubAbove    = 1_024
	stubBytesPerToken = 0.05
)

// knownWindow returns the context window if it is known from the start, else 0.
func (c *Config) knownWindow() int {
	window := c.Compaction.ContextWindow
	if window == 0 && c.Compaction.AgentModelFunc == nil {
		name := c.Compaction.AgentModel
		if name == "" && c.Compaction.Model != nil {
			name = c.Compaction.Model.Name()
		}
		window, _ = c.Compaction.Registry.Window(name)
	}
	return window
}

// The most bytes that one call of read_result returns are those of package toolresult, and less in a small
// window: 16 KB of text that JSON escapes can be more than 12,000 tokens, and the newest answer is never
// masked. Half a byte for each token of the window is at most two thirds of it.
const (
	readMax           = 16_384
	leastReadMax      = 1_024
	readBytesPerToken = 0.5
)

// readOptions are those of read_result for the window.
func (c *Config) readOptions() toolresult.ReadOptions {
	window := c.knownWindow()
	most := max(leastReadMax, int(readBytesPerToken*float64(window)))
	if window == 0 || most >= readMax {
		return toolresult.ReadOptions{}
	}
	return toolresult.ReadOptions{MaxLimit: most}
}

// stubInSmallWindow sets the default of StubAbove for a context window that is known from the start.
func (c *Config) stubInSmallWindow() {
	limits, window := &c.ToolResults.Limits, c.knownWindow()
	above := max(leastStubAbove, int(stubBytesPerToken*float64(window)))
	if limits.StubAbove != 0 || window == 0 || above >= stubAbove || limits.MaxBytes > 0 && limits.MaxBytes < above {
		return
	}
	limits.StubAbove = above
}

// thresholds makes compaction act at the thresholds of the budget. A default of compaction, as
// compaction.DefaultConfig returns it, gives way.
func (r *resolver) thresholds() {
	t, s, standard := r.cfg.Budget.Thresholds, &r.cfg.Compaction, compaction.DefaultConfig()
	for _, pair := range []struct {
		name, other string
		given       float64
		ratio       *float64
		standard    float64
	}{
		{"Compact", "SafetyRatio", t.Compact, &s.SafetyRatio, standard.SafetyRatio},
		{"Block", "BlockRatio", t.Block, &s.BlockRatio, standard.BlockRatio},
	} {
		switch {
		case pair.given == 0 || pair.given == *pair.ratio:
		case pair.name == "Block" && pair.given == budget.Off:
			// Requests are sent as they are. Compaction always has a hard limit.
		case *pair.ratio == 0 || *pair.ratio == pair.standard:
			*pair.ratio = pair.given
		default:
			r.refuse("Budget.Thresholds."+pair.name, pair.given, "Compaction.%s is %v, and both mean the same: set one of them", pair.other, *pair.ratio)
		}
	}
}
