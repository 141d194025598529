//go:build ignore

package compaction_test

import (
	"fmt"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/tokens"
)

// playTask plays a task of many turns, whose tool results of some 2,700 tokens a plugin cuts in front of a model without
// usage.
func playTask(t *testing.T, turns int, observe bool) (largest int, seen *notes) {
	t.Helper()
	lookup, err := functiontool.New(functiontool.Config{Name: "lookup", Description: "Looks an item up."},
		func(agent.Context, lookupArgs) (lookupResult, error) { return lookupResult{words(2_000)}, nil })
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	works := compactiontest.NewModel("house-llm", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		largest = max(largest, tokens.OfContents(req.Contents))
		if calls++; calls%2 == 1 {
			return compactiontest.CallTool("lookup", map[string]any{"item": "x"})
		}
		return compactiontest.Say("It is there. What else?")
	})
	clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Description: "Looks items up.", Mode: llmagent.ModeTask, Model: works, Tools: []tool.Tool{lookup}})
	if err != nil {
		t.Fatal(err)
	}
	gives := compactiontest.NewModel("house-llm", func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.CallTool("clerk", map[string]any{"request": "Look items up."})
	})
	root, err := llmagent.New(llmagent.Config{Name: "desk", Model: gives, SubAgents: []agent.Agent{clerk}})
	if err != nil {
		t.Fatal(err)
	}
	seen = &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer = compaction.Off, 16_000, seen.Observe
	svc := newService(t, session.InMemoryService(), cfg)
	callbacks := []llmagent.BeforeModelCallback{truncate}
	if observe {
		callbacks = append(callbacks, svc.ObserveRequest)
	}
	var plugins []*plugin.Plugin
	for i, callback := range callbacks {
		p, err := plugin.New(plugin.Config{Name: fmt.Sprint("p", i), BeforeModelCallback: callback})
		if err != nil {
			t.Fatal(err)
		}
		plugins = append(plugins, p)
	}
	r, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: root, SessionService: svc, AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range turns {
		msg := genai.NewContentFromText(fmt.Sprint("Look up item ", i, "."), genai.RoleUser)
		for _, err := range r.Run(t.Context(), ref.UserID, ref.SessionID, msg, agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if calls != 2*turns {
		t.Fatalf("%d calls in the task, want %d", calls, 2*turns)
	}
	return largest, seen
}

// TestWhatALayerCutsFromATaskIsNotCompacted: a task runs in a scope of its own, whose requests are measured for it and for
// no other agent.
func TestWhatALayerCutsFromATaskIsNotCompacted(t *testing.T) {
	t.Parallel()
	const turns = 30
	largest, seen := playTask(t, turns, false)
	if largest > 5_000 || len(seen.of(compaction.Stored)) == 0 {
		t.Fatalf("prompts of up to %d tokens, %d compactions without being told: the test shows nothing", largest, len(seen.of(compaction.Stored)))
	}
	largest, seen = playTask(t, turns, true)
	if n := len(seen.of(compaction.Stored)); n > 0 || largest > 5_000 {
		t.Errorf("%d compactions for prompts of up to %d tokens in a window of 16,000", n, largest)
	}
}
