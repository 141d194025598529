package summarizer_test

import (
	"strings"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit/recorded"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestRealConversationsRenderWhole(t *testing.T) {
	t.Parallel()
	read, written := 0, 0
	for _, c := range recorded.Read(t, "*.jsonl") {
		evs := eventsOf(c)
		read++
		need, parts := 0, 0
		for _, ev := range evs {
			need += summarizer.Cost(ev)
			parts += max(1, len(ev.Content.Parts))
		}
		for _, limit := range []int{need, 2 * need, plenty} {
			text, err := summarizer.Transcript(evs, limit)
			if err != nil || tokens.Estimate(text) > limit || strings.Count(text, "\n")+1 != parts {
				t.Fatalf("%s, limit %d: %v, %d tokens, %d lines for %d parts", c.ID, limit, err, tokens.Estimate(text), strings.Count(text, "\n")+1, parts)
			}
		}
		for _, limit := range []int{0, 40} {
			wantDigestPasses(t, summarizer.Request{Events: evs, MaxTokens: limit})
		}
		for i := 0; i+14 <= len(evs); i += 10 {
			wantDigestPasses(t, summarizer.Request{Events: evs[i : i+14]})
		}
		for _, theirs := range c.Compactions {
			written++
			if err := summarizer.Check(summarizer.Request{Events: evs[:min(theirs.AtMessage, len(evs))]}, theirs.Summary); err != nil {
				t.Errorf("%s: a summary of %d characters from a real application is refused: %v", c.ID, len(theirs.Summary), err)
			}
		}
	}
	if read < 10 || written == 0 {
		t.Errorf("only %d conversations and %d summaries", read, written)
	}
}

// eventsOf returns the messages as events.
func eventsOf(c recorded.Conversation) (evs []*session.Event) {
	for _, m := range c.Messages {
		switch m.Role {
		case "user":
			evs = append(evs, user(m.Content))
		case "tool":
			evs = append(evs, response(m.ToolCallID, m.Name, map[string]any{"result": m.Content}))
		case "assistant":
			ev := agent(m.Content)
			for _, call := range m.ToolCalls {
				ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: call.ID, Name: call.Function.Name, Args: call.Args()}})
			}
			evs = append(evs, ev)
		}
	}
	return evs
}
