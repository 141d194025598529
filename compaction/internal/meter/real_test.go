package meter

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/internal/testkit/recorded"
	"github.com/adk-go-ext/longsession/internal/view"
)

// The recorded counts hold instructions and tools which the recording lacks, so the first count of a session is no
// measure of its estimate. The three prompts that exceed their bound hold messages that the recording lacks.
func TestOneInAHundredRealPromptsExceedsWhatItShouldNot(t *testing.T) {
	t.Parallel()
	config := Config{ContextWindow: 1_000_000, MaxOutputTokens: -1, SafetyRatio: 0.7, BlockRatio: 0.98, MaxSummaries: 5, MaxSummaryTokens: 500}
	calls, exceeded := 0, 0
	for _, c := range recorded.Read(t, "coding_agent_sessions.jsonl") {
		v := view.New(nil)
		m := New(v, NewSession(config.Limits("model"), &learned.Facts{}, nil))
		before := 0
		for i, message := range c.Messages {
			if len(c.Compactions) > 0 && i >= c.Compactions[0].AtMessage {
				break // later counts are of prompts that the recording does not have
			}
			count := message.Usage.PromptTokens
			if count == before { // it belongs to an answer that was recorded in several pieces
				count = 0
			}
			if count > 0 {
				if before > 0 {
					calls++
					if count > m.Prompt("").AtMost {
						exceeded++
					}
				}
				before = count
			}
			ev := &session.Event{ID: fmt.Sprint(i), Author: message.Role, InvocationID: "inv", Timestamp: time.Unix(int64(i), 0)}
			ev.Content = message.LLM()
			if count > 0 {
				ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(count)}
			}
			v.Append(ev)
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
