//go:build ignore

package compaction_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/tokens"
)

// playTask plays a task of many turns, whose tool results a plugin cuts in front of a model without usage.
func playTask(t *testing.T, turns int, observe bool) (largest int, seen *notes) {
	t.Helper()
	calls := 0
	works := compactiontest.NewModel("house-llm", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		largest = max(largest, tokens.OfContents(req.Contents))
		if calls++; calls%2 == 1 {
			return compactiontest.CallTool("lookup", map[string]any{"item": "x"})
		}
		return compactiontest.Say("It is there. What else?")
	})
	clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Description: "Looks items up.", Mode: llmagent.ModeTask, Model: works, Tools: []tool.Tool{lookupTool(t)}})
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
	seen, _ = playWithCuts(t, root, turns, observe)
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
