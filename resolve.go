package longsession

import (
	"fmt"
	"slices"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/tokens"
)

// resolve completes the settings of the layers by what they share. Its error joins every contradiction.
func (c Config) resolve() (Config, error) {
	r := resolver{cfg: &c}
	for _, layer := range c.Disable {
		if !slices.Contains(layers, layer) {
			r.Refuse("Disable", layer, "no layer has this name; there are %s", names(layers))
		}
	}
	r.models()
	r.owned()
	r.ceilings()
	r.windows()
	if c.uses(LayerBudget) {
		r.thresholds()
	} else {
		c.Budget = budget.Config{Registry: c.Budget.Registry, ContextWindow: c.Compaction.ContextWindow, MaxOutputTokens: c.Compaction.MaxOutputTokens}
	}
	return c, r.Join("config")
}

// resolver collects what is wrong with a config.
type resolver struct {
	cfg *Config
	configerr.Problems
}

// names lists layers for an error: "toolresults, budget and prompt".
func names(layers []Layer) string {
	text := fmt.Sprint(layers[0])
	for _, layer := range layers[1 : len(layers)-1] {
		text += ", " + string(layer)
	}
	return text + " and " + string(layers[len(layers)-1])
}

// minWindow is the smallest context window, in tokens, that an instruction, a message and an answer fit into.
const minWindow = 256

// windows makes the numbers of the context window the same for every layer that is on.
func (r *resolver) windows() {
	var windows, replies []place[int]
	add := func(name string, window, reply *int) {
		windows = append(windows, place[int]{name + ".ContextWindow", window})
		replies = append(replies, place[int]{name + ".MaxOutputTokens", reply})
	}
	c := r.cfg
	if c.uses(LayerBudget) {
		add("Budget", &c.Budget.ContextWindow, &c.Budget.MaxOutputTokens)
	}
	if c.uses(LayerToolSearch) {
		add("ToolSearch", &c.ToolSearch.ContextWindow, &c.ToolSearch.MaxOutputTokens)
	}
	add("Compaction", &c.Compaction.ContextWindow, &c.Compaction.MaxOutputTokens)
	same(r, windows...)
	same(r, replies...)
	if window := *windows[0].value; window > 0 && window < minWindow {
		r.Refuse(windows[0].field, window, "no request fits into it: it is a number of tokens, such as 128_000, or 0 for the window of the model")
	}
}

// models gives each layer the shared registry, and compaction the model.
func (r *resolver) models() {
	c, cfg := r.cfg, &r.cfg.Compaction
	for _, registry := range []**tokens.Registry{&cfg.Registry, &c.Budget.Registry, &c.ToolSearch.Registry, &c.Guard.Registry} {
		if *registry == nil {
			*registry = c.Registry
		}
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
		r.Refuse("Compaction.Cut", c.Compaction.Cut, "the layer of tool results cuts them: configure ToolResults, or disable %s", LayerToolResults)
	}
	r.recall()
	if !c.uses(LayerBudget) {
		return
	}
	if c.Compaction.Fixed != nil {
		r.Refuse("Compaction.Fixed", c.Compaction.Fixed, "the budget measures the fixed part of requests: remove it, or disable %s", LayerBudget)
	}
	if c.uses(LayerPrompt) && c.Budget.Sections != nil {
		r.Refuse("Budget.Sections", c.Budget.Sections, "the sections are those of Prompt: remove it, or disable %s", LayerPrompt)
	}
	for _, field := range []struct {
		name    string
		set     bool
		value   any
		instead string
	}{
		{"Compactor", c.Budget.Compactor != nil, c.Budget.Compactor, "the stack's session service compacts"},
		{"Masker", c.Budget.Masker != nil, c.Budget.Masker, "set Masking"},
		{"Cutter", c.Budget.Cutter != nil, c.Budget.Cutter, "set ToolResults"},
		{"ReadResult", c.Budget.ReadResult != nil, c.Budget.ReadResult, "the stack has its own"},
		{"Store", c.Budget.Store != nil, c.Budget.Store, "set Results"},
	} {
		if field.set {
			r.Refuse("Budget."+field.name, field.value, "the stack fills it: %s", field.instead)
		}
	}
}

// recall gives both that keep or return texts the same redaction.
func (r *resolver) recall() {
	c := r.cfg
	if name := c.Compaction.RecallTool; !c.Recall.Disabled && name != "" && name != recall.ToolName {
		r.Refuse("Compaction.RecallTool", name, "Recall searches by its own tool, %s: leave the name out, or set Recall.Disabled", recall.ToolName)
	}
	// Exact values go through the same function, also where nobody searches.
	switch {
	case c.Recall.Redact == nil:
		c.Recall.Redact = c.Compaction.Redact
	case c.Compaction.Redact == nil:
		c.Compaction.Redact = c.Recall.Redact
	default:
		r.Refuse("Recall.Redact", c.Recall.Redact, "Compaction.Redact is set, too, and both mean the same: set one of them")
	}
}

// ceilings refuses limits that nobody would hold: an app that sets one relies on it.
func (r *resolver) ceilings() {
	g := &r.cfg.Guard
	if !r.cfg.uses(LayerGuard) && (g.Turn.Any() || g.Session.Any()) {
		r.Refuse("Guard", *g, "nobody holds its limits: remove them, or do not disable %s", LayerGuard)
	}
	if r.cfg.Model == nil || g.Unpriced != "" {
		return // the app has said what happens with models without prices
	}
	if m, known := g.Registry.Lookup(r.cfg.Model.Name()); known && m.Priced() {
		return
	}
	for _, limit := range []struct {
		field string
		usd   tokens.Nano
	}{{"Guard.Turn.USD", g.Turn.USD}, {"Guard.Session.USD", g.Session.USD}} {
		if limit.usd > 0 {
			r.Refuse(limit.field, limit.usd, "it cannot hold, because the prices of the model %.80q are not known: add them to Registry, "+
				"charge it like another model with Guard.Unpriced = guard.UnpricedAs and Guard.PriceAs, or set guard.UnpricedWarn if it is for other models", r.cfg.Model.Name())
		}
	}
}

// place is a field that holds a number which other fields hold, too.
type place[N int | float64] struct {
	field string
	value *N
}

// same gives the number that is set to the places where it is 0. It refuses two different numbers.
func same[N int | float64](r *resolver, places ...place[N]) {
	var first place[N]
	for _, p := range places {
		switch {
		case *p.value == 0:
		case first.value == nil:
			first = p
		case *p.value != *first.value:
			r.Refuse(first.field, *first.value, "%s is %v, and both mean the same: set one of them", p.field, *p.value)
		}
	}
	if first.value == nil {
		return
	}
	for _, p := range places {
		*p.value = *first.value
	}
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
		case pair.name == "Block" && pair.given == compaction.Off:
			// Requests are sent as they are. Compaction always has a hard limit.
		case *pair.ratio == 0 || *pair.ratio == pair.standard:
			*pair.ratio = pair.given
		default:
			r.Refuse("Budget.Thresholds."+pair.name, pair.given, "Compaction.%s is %v, and both mean the same: set one of them", pair.other, *pair.ratio)
		}
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
