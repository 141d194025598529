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

// The test reads real conversations from the folder in LONGSESSION_DATA. Its files are JSON lines
// of OpenAI-style messages.
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
	read, written := 0, 0
	for _, path := range files {
		for _, c := range conversations(t, path) {
			evs := c.events
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
			for _, limit := range []int{0, 40} {
				wantDigestPasses(t, summarizer.Request{Events: evs, MaxTokens: limit})
			}
			for i := 0; i+14 <= len(evs); i += 10 {
				wantDigestPasses(t, summarizer.Request{Events: evs[i : i+14]})
			}
			for _, theirs := range c.summaries {
				written++
				if err := summarizer.Check(summarizer.Request{Events: evs[:theirs.after]}, theirs.text); err != nil {
					t.Errorf("%s: a summary of %d characters from a real application is refused: %v", path, len(theirs.text), err)
				}
			}
		}
	}
	if read < 10 || written == 0 {
		t.Errorf("only %d conversations and %d summaries", read, written)
	}
}

// recording is one conversation, with the summaries that its application wrote.
type recording struct {
	events    []*session.Event
	summaries []recordedSummary
}

type recordedSummary struct {
	after int // events before it
	text  string
}

func conversations(t *testing.T, path string) []recording {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	var out []recording
	for lines.Scan() {
		var c struct {
			Compactions []struct {
				Summary   string
				AtMessage int `json:"at_message"`
			}
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
					_ = json.Unmarshal([]byte(tc.Function.Arguments), &args) // arguments that are not an object count as none
					ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: tc.ID, Name: tc.Function.Name, Args: args}})
				}
				evs = append(evs, ev)
			}
		}
		r := recording{events: evs}
		for _, theirs := range c.Compactions {
			r.summaries = append(r.summaries, recordedSummary{min(theirs.AtMessage, len(evs)), theirs.Summary})
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
