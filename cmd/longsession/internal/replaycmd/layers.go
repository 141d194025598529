package replaycmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/budget"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/toolresult"
)

// Values of --layers.
const (
	noLayers    = "none"
	toolResults = "toolresult"
	budgets     = "budget"
	allLayers   = "all"
)

var layerChoices = []string{noLayers + "\tcompaction alone", toolResults + "\tlong tool results are shortened, old ones masked", budgets + "\tno request exceeds the window", allLayers}

// layers holds the flags of the layers besides compaction. Unlike for the library, 0 turns something
// off.
type layers struct {
	which   string
	limits  toolresult.Limits
	masking toolresult.Masking
}

// defaultLayers is no layer. The numbers are the defaults of package toolresult.
func defaultLayers() layers {
	return layers{
		which:   noLayers,
		limits:  toolresult.Limits{StubAbove: 4_096, MaxBytes: 10_240},
		masking: toolresult.Masking{KeepFirst: 2, KeepLast: 5, BatchTokens: 5_000, From: 0.25},
	}
}

func (l *layers) settings() []setting.Setting {
	return []setting.Setting{
		{Name: "layers", Value: setting.Choice(&l.which, layerChoices...),
			Help: "layers besides compaction: none, toolresult (long tool results are shortened, old ones masked; all are readable), budget (no request exceeds the window), all"},
		{Name: "stub-above", Field: "StubAbove", Value: setting.Int(&l.limits.StubAbove, 0, setting.NoLimit, "cuts results at --result-bytes instead"),
			Help: "show a reference instead of tool results over this many bytes; 0: never"},
		{Name: "result-bytes", Field: "MaxBytes", Value: setting.Int(&l.limits.MaxBytes, 0, setting.NoLimit, "is no limit"),
			Help: "cut tool results to this many bytes; 0: never"},
		{Name: "mask-first", Field: "KeepFirst", Value: setting.Int(&l.masking.KeepFirst, 0, setting.NoLimit, "keeps none"), Help: "oldest tool results that are not masked"},
		{Name: "mask-last", Field: "KeepLast", Value: setting.Int(&l.masking.KeepLast, 0, setting.NoLimit, "keeps those of the newest call only"),
			Help: "newest tool results that are not masked; with 0 here and for --mask-first, none is masked"},
		{Name: "mask-batch", Field: "BatchTokens", Value: setting.Int(&l.masking.BatchTokens, 0, setting.NoLimit, "masks at every call"),
			Help: "mask when this many tokens of results are old enough; 0: at every call"},
		{Name: "mask-from", Field: "From", Value: setting.Share(&l.masking.From, "the effective window", "masks in prompts of any size"),
			Help: "mask in prompts over this share of the effective window; 0: in prompts of any size"},
	}
}

// build returns the layers for a policy, nil for none. In flags, 0 turns something off; in a config, 0
// means the default and Off turns it off, so build translates.
func (l *layers) build(window int) *longsession.Config {
	cfg := &longsession.Config{
		ToolResults: toolresult.Config{Limits: l.limits},
		Masking:     l.masking,
		Budget:      budget.Config{ContextWindow: window},
	}
	for _, n := range []*int{&cfg.ToolResults.StubAbove, &cfg.ToolResults.MaxBytes, &cfg.Masking.KeepFirst, &cfg.Masking.KeepLast, &cfg.Masking.BatchTokens} {
		*n = cmp.Or(*n, toolresult.Off)
	}
	cfg.Masking.From = cmp.Or(cfg.Masking.From, toolresult.Off)
	switch l.which {
	case toolResults:
		cfg.Disable = []longsession.Layer{longsession.LayerBudget}
	case budgets:
		cfg.Disable = []longsession.Layer{longsession.LayerToolResults}
	case noLayers:
		return nil
	}
	return cfg
}

// blocks reports whether the layers keep prompts within the window.
func (l *layers) blocks() bool { return l.which == budgets || l.which == allLayers }

// describe says what the layers do, "" without any.
func (l *layers) describe() string {
	var parts []string
	if l.which == toolResults || l.which == allLayers {
		switch {
		case l.limits.StubAbove > 0:
			parts = append(parts, fmt.Sprintf("results over %s bytes are shown as references", terminal.Commas(l.limits.StubAbove)))
		case l.limits.MaxBytes > 0:
			parts = append(parts, fmt.Sprintf("results are cut to %s bytes", terminal.Commas(l.limits.MaxBytes)))
		}
		if l.masking.KeepFirst+l.masking.KeepLast > 0 {
			parts = append(parts, fmt.Sprintf("all but the first %s and last %s are masked from %.4g%% of the effective window", terminal.Commas(l.masking.KeepFirst), terminal.Commas(l.masking.KeepLast), 100*l.masking.From))
		}
	}
	if l.blocks() {
		parts = append(parts, "no request exceeds the window")
	}
	return strings.Join(parts, ", ")
}
