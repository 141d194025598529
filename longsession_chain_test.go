package longsession_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// withEverything is a config with every layer at work.
func withEverything() longsession.Config {
	return longsession.Config{
		Model: speaker("m"),
		Prompt: prompt.Config{
			Project: prompt.Text("Write tests first."), Memories: prompt.Text("Ada likes tea."),
			Scratchpad: prompt.Text("Step 2 of 5."), Status: prompt.Text("All is well."),
		},
	}
}

// Apps wrap a model in each agent that they build, and may do it twice.
func TestWrappingAModelTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	for _, disable := range [][]longsession.Layer{
		nil, {longsession.LayerBudget}, {longsession.LayerPrompt}, {longsession.LayerToolSearch}, {longsession.LayerToolResults}, {longsession.LayerGuard},
		{longsession.LayerBudget, longsession.LayerToolResults},
	} {
		cfg := withEverything()
		cfg.Disable = disable
		stack := newStack(t, cfg)
		llm := model.LLM(speaker("m"))
		once := stack.Model(llm)
		if once == llm {
			t.Errorf("without %v, the model is not wrapped", disable)
		}
		if stack.Model(once) != once {
			t.Errorf("without %v, the model is wrapped twice", disable)
		}
	}
}

// Each layer works with no other one on.
func TestEachLayerWrapsAModelAlone(t *testing.T) {
	t.Parallel()
	for _, only := range everyLayer {
		cfg := withEverything()
		cfg.Disable, cfg.Recall.Disabled = slices.DeleteFunc(slices.Clone(everyLayer), func(l longsession.Layer) bool { return l == only }), true
		stack := newStack(t, cfg)
		llm := model.LLM(speaker("m"))
		wrapped := stack.Model(llm)
		if wrapped == llm {
			t.Errorf("%s alone does not wrap a model", only)
		}
		for resp, err := range wrapped.GenerateContent(t.Context(), &model.LLMRequest{}, false) {
			if err != nil || resp.Content.Parts[0].Text != "Noted, thank you." {
				t.Errorf("%s alone: %v, %v", only, resp, err)
			}
		}
	}
}

// The plugin that answers with a message comes after the app's own. Those that touch requests come last.
func TestPluginsOfEveryLayerHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range newStack(t, withEverything()).PluginConfig().Plugins {
		names = append(names, p.Name())
	}
	want := []string{"longsession-guard", "longsession-toolresult", "longsession-budget", "longsession-prompt", "longsession-prompt-message", "longsession-tools", "longsession-toolsearch", "longsession-requests"}
	if !slices.Equal(names, want) {
		t.Errorf("plugins %v, want %v", names, want)
	}
}

// The settings of what is off are not looked at.
func TestSettingsOfADisabledLayerAreIgnored(t *testing.T) {
	t.Parallel()
	cfg := longsession.Config{
		Model: speaker("m"), Disable: everyLayer, Recall: recall.Config{Disabled: true, Limit: -1},
		ToolSearch: toolsearch.Config{Threshold: 7, ContextWindow: 8_000}, Prompt: prompt.Config{SourceTimeout: -2},
	}
	cfg.Compaction.ContextWindow = 9_000
	cfg.Budget.Sections = func(context.Context) []string { return nil }
	newStack(t, cfg)
}
