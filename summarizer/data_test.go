package summarizer_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// Real conversations, read in place: LONGSESSION_DATA names a folder of JSON lines files with
// OpenAI-style messages.
func TestRealConversationsRenderWhole(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LONGSESSION_DATA")
	if dir == "" {
		t.Skip("LONGSESSION_DATA is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations in %s: %v", dir, err)
	}
	read := 0
	for _, path := range files {
		for _, evs := range conversations(t, path) {
			read++
			need, parts := 0, 0
			for _, ev := range evs {
				need += summarizer.Cost(ev)
				parts += max(1, len(ev.Content.Parts))
			}
			for _, limit := range []int{need, 2 * need, plenty} {
				text, err := summarizer.Transcript(evs, limit)
				if err != nil || tokens.Estimate(text) > limit || strings.Count(text, "\n")+1 != parts {
					t.Fatalf("%s, limit %d: %v, %d tokens, %d lines for %d parts", path, limit, err, tokens.Estimate(text), strings.Count(text, "\n")+1, parts)
				}
			}
			_ = extract(t, summarizer.Request{Events: evs})
		}
	}
	if read < 10 {
		t.Errorf("only %d conversations", read)
	}
}

func conversations(t *testing.T, path string) [][]*session.Event {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	var out [][]*session.Event
	for lines.Scan() {
		var c struct {
			Messages []struct {
				Role, Content, Name string
				ToolCallID          string `json:"tool_call_id"`
				ToolCalls           []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var evs []*session.Event
		for _, m := range c.Messages {
			switch m.Role {
			case "user":
				evs = append(evs, user(m.Content))
			case "tool":
				evs = append(evs, response(m.ToolCallID, m.Name, map[string]any{"result": m.Content}))
			case "assistant":
				ev := agent(m.Content)
				for _, tc := range m.ToolCalls {
					var args map[string]any
					_ = json.Unmarshal([]byte(tc.Function.Arguments), &args) // arguments that are no object are none
					ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: tc.ID, Name: tc.Function.Name, Args: args}})
				}
				evs = append(evs, ev)
			}
		}
		out = append(out, evs)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
