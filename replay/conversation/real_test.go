package conversation_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// data returns the folder of real conversations, or skips the test.
func data(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("LONGSESSION_DATA")
	if dir == "" {
		t.Skip("LONGSESSION_DATA is not set: no folder of real conversations")
	}
	return dir
}

// readFile returns all conversations of a file, and fails unless they are in file order.
func readFile(t testing.TB, path string) []*conversation.Conversation {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []*conversation.Conversation
	for r := conversation.NewReader(file, filepath.Base(path)); ; {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, c)
		out = append(out, c)
	}
}

func TestRealConversationsAreReadWhole(t *testing.T) {
	t.Parallel()
	dir := data(t)
	for _, want := range []struct {
		file                                            string
		conversations, messages, turns, steps, question int
	}{
		{file: "bfcl_memory.jsonl", conversations: 3, messages: 191, turns: 191, question: 80},
		// Three of the 1398 messages are summaries of the recorded application, and consecutive
		// user messages count as one.
		{file: "coding_agent_sessions.jsonl", conversations: 10, messages: 1385, turns: 20, steps: 655},
		{file: "memorybank_zh_en.jsonl", conversations: 12, messages: 1034, turns: 517, steps: 517},
		{file: "tau_airline_gpt4o.jsonl", conversations: 100, messages: 2426, turns: 686, steps: 1163},
	} {
		t.Run(want.file, func(t *testing.T) {
			t.Parallel()
			var messages, turns, steps, questions int
			all := readFile(t, filepath.Join(dir, want.file))
			for _, c := range all {
				messages += c.Messages()
				turns += len(c.Turns)
				questions += len(c.Questions)
				for _, turn := range c.Turns {
					steps += len(turn.Steps)
				}
			}
			if len(all) != want.conversations || messages != want.messages || turns != want.turns || steps != want.steps || questions != want.question {
				t.Errorf("read %d conversations, %d messages, %d turns, %d steps, %d questions; want %+v", len(all), messages, turns, steps, questions, want)
			}
		})
	}
}

func TestRecordedCompactionsPointAtTheNextAnswer(t *testing.T) {
	t.Parallel()
	want := map[string]struct {
		message, tokens int
		trigger         string
	}{
		"cc-ae4a77f8-aedd-4bc1-888f-c94edc91af04": {301, 142431, "manual"},
		"cc-258c7280-ae70-4798-800f-63464d01a85d": {241, 167094, "auto"},
		"cc-8463c716-a2ea-4c14-9efa-87158ebd9f20": {170, 167731, "auto"},
	}
	found := 0
	for _, c := range readFile(t, filepath.Join(data(t), "coding_agent_sessions.jsonl")) {
		w, ok := want[c.ID]
		if !ok {
			if len(c.Compactions) > 0 {
				t.Errorf("%s has a compaction that was not recorded", c.ID)
			}
			continue
		}
		found++
		if len(c.Compactions) != 1 {
			t.Fatalf("%s: %d compactions, want 1", c.ID, len(c.Compactions))
		}
		got := c.Compactions[0]
		step := c.Turns[got.Turn].Steps[got.Step]
		if step.Message != w.message || got.PromptTokens != w.tokens || got.Trigger != w.trigger || !strings.HasPrefix(got.Summary, "This session is being continued") {
			t.Errorf("%s: message %d, %d tokens, %s, summary %.40q; want %+v", c.ID, step.Message, got.PromptTokens, got.Trigger, got.Summary, w)
		}
		if step.PromptTokens == 0 || step.PromptTokens > got.PromptTokens/2 {
			t.Errorf("%s: the answer after the compaction had a prompt of %d tokens, %d before it", c.ID, step.PromptTokens, got.PromptTokens)
		}
		for _, turn := range c.Turns {
			for _, part := range turn.User.Parts {
				if strings.HasPrefix(part.Text, "This session is being continued") {
					t.Errorf("%s: the application's summary counts as the user's words", c.ID)
				}
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d conversations found", found, len(want))
	}
}

func BenchmarkReader(b *testing.B) {
	path := filepath.Join(data(b), "coding_agent_sessions.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := conversation.NewReader(strings.NewReader(string(text)), "f")
		n := 0
		for ; ; n++ {
			if _, err := r.Next(); err != nil {
				break
			}
		}
		if n != 10 {
			b.Fatalf("%d conversations", n)
		}
	}
}
