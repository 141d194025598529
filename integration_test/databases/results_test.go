package databases_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
)

// reading is a conversation of one long turn, whose tool returns long results: texts and objects, with
// numbers, quotes, line breaks and letters with accents.
func reading(calls int) *conversation.Conversation {
	turn := conversation.Turn{User: genai.NewContentFromText("Which file opens the port?", genai.RoleUser)}
	for i := range calls {
		id := fmt.Sprint("call-", i)
		text := strings.Repeat(fmt.Sprintf("line of file %d: \"<é & ü>\"\n", i), 250)
		response := map[string]any{"output": text}
		if i%2 == 1 {
			response = map[string]any{"output": text, "exit_code": i, "share": 1.0 / 3}
		}
		turn.Steps = append(turn.Steps, conversation.Step{
			Answer: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
				{FunctionCall: &genai.FunctionCall{ID: id, Name: "read_file", Args: map[string]any{"n": i}}},
			}},
			Responses: []*genai.FunctionResponse{{ID: id, Name: "read_file", Response: response}},
		})
	}
	turn.Steps = append(turn.Steps, conversation.Step{Answer: genai.NewContentFromText("None does.", genai.RoleModel)})
	return &conversation.Conversation{ID: "reading", Turns: []conversation.Turn{turn}}
}

// A server may return JSON in another order and with other spaces. The references of results are the same
// all the same, and each result is read back byte for byte.
func TestEveryShortenedResultIsReadBack(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Synchronous, cfg.ContextWindow = summarizer.Extractive{}, true, 16_000
		cfg.SafetyRatio = 0.3 // masking alone would keep the prompts below the default
		r, err := replay.Play(t.Context(), reading(60), replay.Policy{Config: cfg, Layers: &longsession.Config{}, Service: s.sessions}, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := (replay.Checker{}).Check(r); err != nil {
			t.Error(err)
		}
		if r.Layers.Shortened != 60 || r.Layers.ReadBack != 60 || len(r.Compactions) == 0 || len(r.Over) > 0 {
			t.Errorf("%d results shortened, %d read back, %d compactions, %d prompts over the window", r.Layers.Shortened, r.Layers.ReadBack, len(r.Compactions), len(r.Over))
		}
	})
}
