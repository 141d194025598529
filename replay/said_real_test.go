package replay_test

import (
	"context"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
)

// blind writes summaries of what the agent and its tools said, and of nothing that the user said: the worst case of a model
// that puts instructions into words of its own.
type blind struct{}

func (blind) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	kept := req.Events[:0]
	for _, ev := range req.Events {
		if ev != nil && ev.Author != "user" {
			kept = append(kept, ev)
		}
	}
	req.Events = kept
	result, err := summarizer.Extractive{}.Summarize(ctx, req)
	if err != nil || result.Content == nil {
		result.Content, err = genai.NewContentFromText("The agent worked on what it had been asked for, and nothing else happened in these messages so far.", genai.RoleModel), nil
	}
	result.Model = "blind"
	return result, err
}

// wordsOf plays conversations, and returns the shares of what people said that stand whole in the prompts, and the cost.
func wordsOf(t *testing.T, file string, most int, with replay.Policy) (whole, instructions, dollars float64) {
	t.Helper()
	var total replay.Total
	for _, c := range read(t, file) {
		with.Config.Summarizer, with.Config.MaxUserTokens = blind{}, most
		total.Add(compare(t, c, with)[0])
	}
	sum := total.With
	if sum.Instructions == 0 {
		t.Fatalf("%s: nothing was counted", file)
	}
	return 100 * float64(sum.SaidWhole) / float64(sum.Said), 100 * float64(sum.InstructionsWhole) / float64(sum.Instructions), sum.Dollars + total.Summarizer.Dollars
}

// TestRealUsersAreQuotedWordForWord: what people said stays in the prompts, where a writer of summaries forgets all of it,
// at next to no cost. Without a budget for it, about half stands there: what is not summarized yet.
func TestRealUsersAreQuotedWordForWord(t *testing.T) {
	t.Parallel()
	const airline, coding = "tau_airline_gpt4o.jsonl", "coding_agent_sessions.jsonl"
	for _, r := range []struct {
		file                string
		with                replay.Policy
		whole, instructions float64 // percent, at least
	}{
		{airline, policy(32_000), 80, 75},
		{airline, byPrice(policy(8_000)), 95, 90},
		{coding, policy(32_000), 85, 85},
		{coding, byPrice(policy(32_000)), 85, 85},
	} {
		without, _, before := wordsOf(t, r.file, compaction.Off, r.with)
		whole, instructions, dollars := wordsOf(t, r.file, 0, r.with)
		t.Logf("%s, %s: %.1f%% and not %.1f%% stand whole, %.1f%% of what instructs, for %.4f and not %.4f dollars", r.file, r.with.Name, whole, without, instructions, dollars, before)
		if whole < r.whole || instructions < r.instructions || whole < without {
			t.Errorf("%s, %s: %.1f%% of what was said stands whole in the prompts, and %.1f%% of what instructs", r.file, r.with.Name, whole, instructions)
		}
		if dollars > 1.02*before {
			t.Errorf("%s, %s: it costs $%.4f and not $%.4f", r.file, r.with.Name, dollars, before)
		}
	}
}
