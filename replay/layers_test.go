package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// reading returns a conversation whose one long turn calls a tool so many times, with results of so
// many bytes.
func reading(calls, bytes int) *conversation.Conversation {
	c := &conversation.Conversation{ID: "reading", Instruction: "Read the files."}
	turn := conversation.Turn{User: genai.NewContentFromText("Which file opens the port?", genai.RoleUser)}
	for i := range calls {
		id := fmt.Sprint("call-", i)
		line := fmt.Sprintf("line of file %d\n", i)
		turn.Steps = append(turn.Steps, conversation.Step{
			Answer: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
				{FunctionCall: &genai.FunctionCall{ID: id, Name: "read_file", Args: map[string]any{"path": fmt.Sprint("f", i)}}},
			}},
			Responses: []*genai.FunctionResponse{{ID: id, Name: "read_file", Response: map[string]any{"output": strings.Repeat(line, bytes/len(line))}}},
		})
	}
	turn.Steps = append(turn.Steps, conversation.Step{Answer: genai.NewContentFromText("None does.", genai.RoleModel)})
	c.Turns = []conversation.Turn{turn}
	return c
}

// layered returns policy(window) with the layers, less those that are disabled.
func layered(window int, disabled ...longsession.Layer) replay.Policy {
	p := policy(window)
	p.Layers = &longsession.Config{Disable: disabled}
	p.Name = fmt.Sprint(window, " without ", disabled)
	return p
}

func TestLayersShortenRequestsAndLoseNothing(t *testing.T) {
	t.Parallel()
	c := reading(60, 6_000)
	reports := compare(t, c, policy(32_000), layered(32_000), layered(32_000, longsession.LayerBudget), layered(32_000, longsession.LayerToolResults))
	for i, r := range reports {
		if err := (replay.Checker{}).Check(r); err != nil {
			t.Error(err)
		}
		if i > 0 && r.Layers == nil || i == 0 && r.Layers != nil {
			t.Fatalf("policy %s: layers %v", r.Policy, r.Layers)
		}
	}
	if alone, all := reports[0].With.PromptTokens, reports[1].With.PromptTokens; all > alone*85/100 {
		t.Errorf("%d prompt tokens with all layers, %d with compaction alone", all, alone)
	}
	for _, r := range reports[1:3] {
		if l := r.Layers; l.Shortened != 60 || l.ReadBack != l.Shortened {
			t.Errorf("%s: of 60 long results %d were shortened and %d read back", r.Policy, l.Shortened, l.ReadBack)
		}
	}
	if l := reports[3].Layers; l.Refused > 0 || l.ReadBack != l.Shortened {
		t.Errorf("the budget alone: %+v", l)
	}
}

func TestARequestThatTheBudgetRefusesIsAnsweredAsRecorded(t *testing.T) {
	t.Parallel()
	c := reading(2, 400)
	c.Turns[0].User = genai.NewContentFromText(strings.Repeat("a very long question ", 4_000), genai.RoleUser)
	r := compare(t, c, layered(8_000))[0]
	if r.Layers.Refused == 0 || r.With.ModelCalls != r.Without.ModelCalls || len(r.Over) != r.With.ModelCalls || !r.Over[0].Alone {
		t.Errorf("%d of %d requests refused, %d over the limit", r.Layers.Refused, r.With.ModelCalls, len(r.Over))
	}
}

func TestRealSessionsLoseNothingUnderAllLayers(t *testing.T) {
	t.Parallel()
	if testkit.Race {
		t.Skip("too slow with the race detector; other tests cover this with it")
	}
	shortened := 0
	for _, c := range read(t, "coding_agent_sessions.jsonl") {
		reports := compare(t, c, policy(32_000), layered(32_000), layered(8_000))
		for _, r := range reports[1:] {
			if err := (replay.Checker{}).Check(r); err != nil {
				t.Error(err)
			}
			if r.Layers.ReadBack != r.Layers.Shortened {
				t.Errorf("%s, window %d: %d results shortened, %d read back", c.ID, r.Limit, r.Layers.Shortened, r.Layers.ReadBack)
			}
			shortened += r.Layers.Shortened
		}
		if r := reports[1]; len(r.Over) > 0 {
			t.Errorf("%s: %d prompts over a window of 32,000", c.ID, len(r.Over))
		}
	}
	if shortened < 500 {
		t.Errorf("only %d results were shortened", shortened)
	}
}
