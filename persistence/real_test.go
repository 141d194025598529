package persistence_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/persistence"
)

// message is a message of an OpenAI-style conversation.
type message struct {
	Role, Content, Name string
	ToolCallID          string `json:"tool_call_id"`
	ToolCalls           []struct {
		ID       string
		Function struct{ Name string }
	} `json:"tool_calls"`
}

// The test reads the JSON lines files in LONGSESSION_DATA. Windows end at any event, even between a
// call and its answer.
func TestRealConversationsAreShownAlike(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LONGSESSION_DATA")
	if dir == "" {
		t.Skip("LONGSESSION_DATA is not set: no folder of real conversations")
	}
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	compared := 0
	for n, messages := range conversations(t, dir) {
		k := newKeeper(t, s, fmt.Sprint(n))
		turn := 0
		for _, m := range messages {
			inv := fmt.Sprint("inv", turn)
			switch m.Role {
			case "user":
				turn++
				k.raw.User(fmt.Sprint("inv", turn), m.Content)
			case "tool":
				k.raw.Response(inv, "bot", m.Name, m.Content, m.ToolCallID)
			case "assistant":
				k.raw.Agent(inv, "bot", m.Content)
				for _, call := range m.ToolCalls {
					last := k.raw.Last()
					last.Content.Parts = append(last.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: call.ID, Name: call.Function.Name}})
				}
			default:
				continue
			}
			k.raw.Last().ID = fmt.Sprint("e", k.session.Events().Len())
			k.say(1)
			if len(k.raw.Events) == 25 {
				k.compact(18)
				if !sameView(t, s, k.session.ID()) {
					t.Errorf("GetActive loaded the whole conversation %d", n)
				}
				compared++
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d views compared", compared)
	}
}

func conversations(t *testing.T, dir string) (all [][]message) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations in %s: %v", dir, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var c struct{ Messages []message }
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			all = append(all, c.Messages)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
