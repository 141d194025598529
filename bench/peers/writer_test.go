package main

import (
	"os"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// A refused summary is replaced by a rough one, which may lose any fact. So the figures would be those
// of a writer that fails.
func TestTheWritersSummariesAreNotRefused(t *testing.T) {
	t.Parallel()
	all := []*conversation.Conversation{invented(), readingLogs()}
	if dir := os.Getenv(dataFolder); dir != "" {
		for file, messages := range map[string]int{"coding_agent_sessions.jsonl": 300, "tau_airline_gpt4o.jsonl": 40} {
			found, err := long(dir, file, messages)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, found...)
		}
	}
	windows := 0
	for _, c := range all {
		events := eventsOf(plant(c).conversation)
		for _, size := range []int{1, 2, 5, 14} {
			for from := 0; from+size <= len(events); from += 7 {
				windows++
				req := summarizer.Request{Events: events[from : from+size], MaxTokens: 500}
				if from > 0 {
					req.Summaries = []string{"The user asked about orders. " + fact(0) + "."}
				}
				wantAccepted(t, c.ID, req)
			}
		}
	}
	t.Logf("%d windows", windows)
}

// wantAccepted has the writer summarize req in one call, with a window in which most texts fit and one in which few do.
func wantAccepted(t *testing.T, name string, req summarizer.Request) {
	t.Helper()
	for _, window := range []int{100_000, 4_000} {
		writer := &oracle{window: window}
		llm, err := summarizer.NewLLM(summarizer.LLMConfig{Model: writer, ContextWindow: window, MaxPieces: 1})
		if err != nil {
			t.Fatal(err)
		}
		res, err := llm.Summarize(t.Context(), req)
		if err != nil {
			t.Errorf("%s, %d events from %s: %v", name, len(req.Events), req.Events[0].ID, err)
			continue
		}
		text, _ := summarizer.Prose(res.Content)
		if size := tokens.Estimate(text); size > req.MaxTokens || writer.calls != 1 {
			t.Errorf("%s, %d events from %s: %d tokens in %d calls, asked for %d", name, len(req.Events), req.Events[0].ID, size, writer.calls, req.MaxTokens)
		}
		if len(req.Summaries) > 0 && !strings.Contains(text, fact(0)) {
			t.Errorf("%s: the fact of the earlier summary is missing in %q", name, text)
		}
	}
}
