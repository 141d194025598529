package window_test

import (
	"fmt"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/window"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestTheEffectiveWindowIsWhatTheReplyLeaves(t *testing.T) {
	t.Parallel()
	registry, err := tokens.NewRegistry(tokens.Model{Name: "own", ContextWindow: 50_000, MaxOutputTokens: 4_000})
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		cfg   window.Config
		model string
		asked int32
		want  window.Window
	}{
		"nothing is known":          {window.Config{}, "nobody", 0, window.Window{Total: 128_000, Reply: 8_192, Assumed: true}},
		"the registry's":            {window.Config{Registry: registry}, "own", 0, window.Window{Total: 50_000, Reply: 4_000}},
		"the config's window":       {window.Config{ContextWindow: 20_000}, "nobody", 0, window.Window{Total: 20_000, Reply: 2_000}},
		"the config's reserve":      {window.Config{ContextWindow: 20_000, MaxOutputTokens: 15_000}, "nobody", 0, window.Window{Total: 20_000, Reply: 10_000}},
		"nothing is reserved":       {window.Config{ContextWindow: 20_000, MaxOutputTokens: window.Off}, "nobody", 0, window.Window{Total: 20_000}},
		"the request asks for 500":  {window.Config{ContextWindow: 20_000}, "nobody", 500, window.Window{Total: 20_000, Reply: 500}},
		"the request asks for more": {window.Config{ContextWindow: 20_000}, "nobody", 19_000, window.Window{Total: 20_000, Reply: 10_000}},
	} {
		table := window.New(of.cfg)
		req := &model.LLMRequest{Config: &genai.GenerateContentConfig{MaxOutputTokens: of.asked}}
		for range 2 {
			if got := table.For(of.model, req); got != of.want || got.Effective() != of.want.Total-of.want.Reply {
				t.Errorf("%s: %+v, want %+v", name, got, of.want)
			}
		}
		if got := table.For(of.model, nil); got != table.Of(of.model) {
			t.Errorf("%s: without a request %+v, want %+v", name, got, table.Of(of.model))
		}
	}
}

func TestATableLearnsAndForgets(t *testing.T) {
	t.Parallel()
	table := window.New(window.Config{})
	table.Learn("m", 0)
	if got := table.Of("m"); got.Total != 128_000 || !got.Assumed {
		t.Errorf("%+v before anything is learned", got)
	}
	table.Learn("m", 30_000)
	if got := table.Of("m"); got != (window.Window{Total: 30_000, Reply: 3_000}) {
		t.Errorf("%+v, want what was learned", got)
	}
	for i := range 1_000 {
		table.Of(fmt.Sprint("other ", i))
	}
	if table.Len() > 256 {
		t.Errorf("the table remembers %d models", table.Len())
	}
}

func TestARequestMayNameAnotherModel(t *testing.T) {
	t.Parallel()
	if got := window.ModelOf("outer", &model.LLMRequest{Model: "inner"}); got != "inner" {
		t.Error(got)
	}
	if got := window.ModelOf("outer", &model.LLMRequest{}); got != "outer" || window.ModelOf("outer", nil) != "outer" {
		t.Error(got)
	}
}
