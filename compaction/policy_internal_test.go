package compaction

import (
	"context"
	"iter"
	"testing"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

type named string

func (n named) Name() string { return string(n) }

func (named) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(func(*model.LLMResponse, error) bool) {}
}

// A model of one's own has the window that one says it has: more would be refused by its server.
func TestModelThatNoTableKnowsReadsNoMoreThanItsWindow(t *testing.T) {
	t.Parallel()
	own, err := tokens.NewRegistry(tokens.Model{Name: "priced", InputPrice: 1, OutputPrice: 2}, tokens.Model{Name: "known", ContextWindow: 32_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		model, agent string
		window, want int
	}{
		{"home-made", "", 8_000, 4_500},
		{"home-made", "", 0, 89_856},
		{"home-made", "gemini-2.5-pro", 8_000, 89_856},
		{"gemini-2.5-flash", "", 8_000, 780_288},
		{"priced", "", 8_000, 4_500}, // only the price is known, not the window
		{"known", "", 8_000, 18_000},
		{"known", "gemini-2.5-pro", 0, 18_000},
	} {
		cfg := DefaultConfig()
		cfg.Model, cfg.AgentModel, cfg.ContextWindow, cfg.Registry = named(r.model), r.agent, r.window, own
		p, err := newPolicy(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if p.windowTokens != r.want {
			t.Errorf("%s for agent %q in a window of %d: reads %d tokens at a time, want %d", r.model, r.agent, r.window, p.windowTokens, r.want)
		}
		if p.sizes.PieceTokens != r.want {
			t.Errorf("%s for agent %q in a window of %d: pieces of %d tokens have a price, want %d", r.model, r.agent, r.window, p.sizes.PieceTokens, r.want)
		}
	}
}
