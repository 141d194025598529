package meter

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// The recorded counts hold instructions and tools which the recording lacks, so the first count of a session is no
// measure of its estimate. The three prompts that exceed their bound hold messages that the recording lacks.
func TestOneInAHundredRealPromptsExceedsWhatItShouldNot(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("LONGSESSION_DATA")
	if folder == "" {
		t.Skip("LONGSESSION_DATA is not set: no real conversations")
	}
	all, err := conversation.ReadFile(filepath.Join(folder, "coding_agent_sessions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	config := Config{ContextWindow: 1_000_000, MaxOutputTokens: -1, SafetyRatio: 0.7, BlockRatio: 0.98, MaxSummaries: 5, MaxSummaryTokens: 500}
	calls, exceeded := 0, 0
	for _, c := range all {
		v := view.New(nil)
		m := New(v, NewSession(config.Limits("model"), &learned.Facts{}, nil))
		events := 0
		add := func(author string, content *genai.Content, count int) {
			events++
			ev := &session.Event{ID: fmt.Sprint(events), Author: author, InvocationID: "inv", Timestamp: time.Unix(int64(events), 0)}
			ev.Content = content
			if count > 0 {
				ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(count)}
			}
			v.Append(ev)
		}
		before := 0
		for i, turn := range c.Turns {
			add("user", turn.User, 0)
			for j, step := range turn.Steps {
				if len(c.Compactions) > 0 && (i > c.Compactions[0].Turn || i == c.Compactions[0].Turn && j >= c.Compactions[0].Step) {
					break // later counts are of prompts that the recording does not have
				}
				count := step.PromptTokens
				if count == before { // it belongs to an answer that was recorded in several pieces
					count = 0
				}
				if expected := m.Prompt(""); count > 0 {
					if before > 0 {
						calls++
						if count > expected.AtMost {
							exceeded++
						}
					}
					before = count
				}
				add("assistant", step.Answer, count)
				if len(step.Responses) > 0 {
					results := &genai.Content{Role: genai.RoleUser}
					for _, r := range step.Responses {
						results.Parts = append(results.Parts, &genai.Part{FunctionResponse: r})
					}
					add("assistant", results, 0)
				}
			}
		}
	}
	if calls < 300 {
		t.Fatalf("only %d counts found", calls)
	}
	t.Logf("%d of %d", exceeded, calls)
	if exceeded*100 > calls {
		t.Errorf("%d of %d prompts have more tokens than they should at most", exceeded, calls)
	}
}
