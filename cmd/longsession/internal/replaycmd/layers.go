package replaycmd

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/budget"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
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

// layers holds the flags of the layers besides compaction. Numbers are as the library has them: 0 is the
// default, and Off turns something off. In flags, auto and 0 mean these.
type layers struct {
	which   string
	limits  toolresult.Limits
	masking toolresult.Masking
}

// automatic is the value of a flag that leaves a number to the library.
const automatic = "auto"

// number is a setting of the library in a flag: auto for 0, and 0 for Off. zero describes what Off does.
func number(to *int, zero string) setting.Value {
	text := func() string {
		switch *to {
		case 0:
			return automatic
		case toolresult.Off:
			return "0"
		}
		return strconv.Itoa(*to)
	}
	return setting.New(text, func(text string) error {
		n := 0
		if text != automatic {
			if err := setting.Int(&n, 0, setting.NoLimit, zero).Set(text); err != nil {
				return err
			}
			n = cmp.Or(n, toolresult.Off)
		}
		*to = n
		return nil
	})
}

func (l *layers) settings() []setting.Setting {
	return []setting.Setting{
		{Name: "layers", Value: setting.Choice(&l.which, layerChoices...),
			Help: "layers besides compaction: none, toolresult (long tool results are shortened, old ones masked; all are readable), budget (no request exceeds the window), all"},
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

// describe returns what the layers do, "" without any.
func (l *layers) describe() string {
	var parts []string
	if l.which == toolResults || l.which == allLayers {
		parts = append(parts, "long tool results are shortened")
		if l.masking.KeepFirst != toolresult.Off || l.masking.KeepLast != toolresult.Off {
			parts = append(parts, "old ones are masked")
		}
	}
	if l.blocks() {
		parts = append(parts, "no request exceeds the window")
	}
	return strings.Join(parts, ", ")
}
