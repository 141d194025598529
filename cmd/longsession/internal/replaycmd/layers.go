package replaycmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// Values of --layers.
const (
	noLayers    = "none"
	toolResults = "toolresult"
	budgets     = "budget"
	toolSearch  = "toolsearch"
	allLayers   = "all"
	// recallOnly is not offered: a recorded agent searches for nothing. A recommendation has what its declarations cost.
	recallOnly = "recall"
)

var layerChoices = []string{noLayers + "\tcompaction alone", toolResults + "\tlong tool results are shortened, old ones masked", budgets + "\tno request exceeds the window", toolSearch + "\ttools of MCP servers are found when needed", allLayers}

var deferModes = []string{string(toolsearch.Bridge) + "\tthrough tool_call", string(toolsearch.Promote) + "\tdeclared once found"}

// layers holds the flags of the layers besides compaction. Numbers are as the library has them: 0 is the
// default, and Off turns something off. In flags, auto and 0 mean these.
type layers struct {
	which   string
	limits  toolresult.Limits
	masking toolresult.Masking
	search  deferring
	mcp     []string // patterns for names of tools of MCP servers; none leaves it to the replay
}

// deferring holds fields of [toolsearch.Config]. Unlike there, a Threshold of 0 defers nothing.
type deferring struct {
	Threshold float64
	Mode      string
}

func (l *layers) settings() []setting.Setting {
	return []setting.Setting{
		{Name: "layers", Value: setting.Choice(&l.which, layerChoices...),
			Help: "layers besides compaction: none, toolresult (long tool results are shortened, old ones masked; all are readable), budget (no request exceeds the window), toolsearch (declarations of tools of MCP servers are left out, and found when needed), all (these, and recall is declared from the first summary on)"},
		{Name: "stub-above", Field: "StubAbove", Value: number(&l.limits.StubAbove, "cuts results at --result-bytes instead"),
			Help: "show a reference instead of tool results over this many bytes; auto: 4,096, less in a small window; 0: never"},
		{Name: "result-bytes", Field: "MaxBytes", Value: number(&l.limits.MaxBytes, "is no limit"),
			Help: "cut tool results to this many bytes; auto: 10,240; 0: never"},
		{Name: "mask-first", Field: "KeepFirst", Value: number(&l.masking.KeepFirst, "keeps none"), Help: "oldest tool results that are not masked; auto: 2"},
		{Name: "mask-last", Field: "KeepLast", Value: number(&l.masking.KeepLast, "keeps those of the newest call only"),
			Help: "newest tool results that are not masked; auto: 5; with 0 here and for --mask-first, none is masked"},
		{Name: "mask-batch", Field: "BatchTokens", Value: number(&l.masking.BatchTokens, "masks at every call"),
			Help: "mask when this many tokens of results are old enough; auto: 5,000, less in a small window; 0: at every call"},
		{Name: "mask-from", Field: "From", Value: setting.Share(&l.masking.From, "the effective window", "masks in prompts of any size"),
			Help: "mask in prompts over this share of the effective window; 0: in prompts of any size"},
		{Name: "defer-above", Field: "Threshold", Value: setting.Share(&l.search.Threshold, "the effective window", "defers no tool"),
			Help: "defer tools of MCP servers if all declarations are over this share of the effective window; 0: never"},
		{Name: "defer-mode", Field: "Mode", Value: setting.Choice(&l.search.Mode, deferModes...),
			Help: "how deferred tools are called: bridge (through tool_call), promote (they are declared once they were found)"},
	}
}

// build returns the layers for a policy, nil for none. The share of --mask-from is translated: 0 means
// Off, as in other flags.
func (l *layers) build(window int) *longsession.Config {
	cfg := &longsession.Config{
		ToolResults: toolresult.Config{Limits: l.limits},
		Masking:     l.masking,
		Budget:      budget.Config{ContextWindow: window},
	}
	cfg.Masking.From = cmp.Or(cfg.Masking.From, toolresult.Off)
	cfg.ToolSearch = toolsearch.Config{Threshold: cmp.Or(l.search.Threshold, toolsearch.Off), Mode: toolsearch.Mode(l.search.Mode)}
	if len(l.mcp) > 0 {
		cfg.ToolSearch.Category = l.category
	}
	cfg.Recall.Disabled = l.which != allLayers && l.which != recallOnly
	switch l.which {
	case toolResults:
		cfg.Disable = []longsession.Layer{longsession.LayerBudget, longsession.LayerToolSearch}
	case budgets:
		cfg.Disable = []longsession.Layer{longsession.LayerToolResults, longsession.LayerToolSearch}
	case toolSearch:
		cfg.Disable = []longsession.Layer{longsession.LayerToolResults, longsession.LayerBudget}
	case recallOnly:
		cfg.Disable = []longsession.Layer{longsession.LayerToolResults, longsession.LayerBudget, longsession.LayerToolSearch}
	case noLayers:
		return nil
	}
	return cfg
}

// category is MCP for the tools that --mcp-tools names.
func (l *layers) category(t tool.Tool) toolsearch.Category {
	if slices.ContainsFunc(l.mcp, func(pattern string) bool { return matches(pattern, t.Name()) }) {
		return toolsearch.MCP
	}
	return toolsearch.BuiltIn
}

// blocks reports whether the layers keep prompts within the window.
func (l *layers) blocks() bool { return l.which == budgets || l.which == allLayers }

// describe returns what the layers do, "" without any.
func (l *layers) describe() string {
	var parts []string
	if l.which == toolResults || l.which == allLayers {
		parts = append(parts, "long tool results are shortened")
		if l.masking.KeepFirst != toolresult.Off || l.masking.KeepLast != toolresult.Off {
			parts = append(parts, "old ones are masked")
		}
	}
	if (l.which == toolSearch || l.which == allLayers) && l.search.Threshold > 0 {
		parts = append(parts, fmt.Sprintf("tools of MCP servers are deferred over %.4g%%", 100*l.search.Threshold))
	}
	if l.blocks() {
		parts = append(parts, "no request exceeds the window")
	}
	return strings.Join(parts, ", ")
}
