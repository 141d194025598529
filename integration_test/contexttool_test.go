package integration_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestTheModelMakesRoomWhenItIsTold runs every layer in one turn of many tool rounds. At 80% of the
// window a tool result names compact_context. The model calls it, and the next request of the turn is
// smaller.
func TestTheModelMakesRoomWhenItIsTold(t *testing.T) {
	t.Parallel()
	for _, streaming := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		for _, store := range storages.All(t) {
			t.Run(string(streaming)+store.Name, func(t *testing.T) {
				t.Parallel()
				makeRoom(t, store, streaming)
			})
		}
	}
}

func makeRoom(t *testing.T, store storages.Storage, streaming agent.StreamingMode) {
	offer := contexttool.Config{Enabled: true}
	stack, err := longsession.New(store.Open(t), longsession.Config{
		Compaction: offer.Compaction(compaction.Config{
			Summarizer: summarizer.Extractive{}, ContextWindow: 16_000,
			InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off,
		}),
		Disable: []longsession.Layer{longsession.LayerToolResults}, // masking would make the room
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stack.Close(context.Background()) })
	offered, err := contexttool.New(stack.Sessions, offer)
	if err != nil {
		t.Fatal(err)
	}
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks at something."},
		func(agent.ToolContext, struct{ N int }) (string, error) {
			return strings.Repeat("The price of flowers is 12 EUR. ", 80), nil
		})
	if err != nil {
		t.Fatal(err)
	}
	asked, told, answer := -1, "", ""
	note := regexp.MustCompile(`\[Context: 8\d% used\. You can call compact_context to free space before continuing with large operations\.\]`)
	llm := compactiontest.NewModel("scripted", func(n int, req *model.LLMRequest) *model.LLMResponse {
		text, err := json.Marshal(req.Contents[len(req.Contents)-1])
		if err != nil {
			t.Error(err)
		}
		switch last := req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse; {
		case answer != "" || n > 60:
			return compactiontest.Say("That is all.")
		case asked >= 0:
			answer, _ = last.Response["result"].(string)
			return compactiontest.Say("There is room again.")
		case note.Match(text):
			asked, told = n, note.FindString(string(text))
			return compactiontest.CallTool(contexttool.CompactContextName, map[string]any{})
		default:
			return compactiontest.CallTool("look", map[string]any{"N": n})
		}
	})
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: stack.Model(llm), Tools: append([]tool.Tool{look}, offered.Tools()...)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: bot, SessionService: stack.Sessions, AutoCreateSession: true, PluginConfig: stack.PluginConfig()})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Look at everything.", genai.RoleUser), agent.RunConfig{StreamingMode: streaming}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if told == "" || !strings.HasPrefix(answer, "Context compacted: ") {
		t.Fatalf("told %q, answered %q", told, answer)
	}
	requests := llm.Requests()
	before, after := requests[asked], requests[asked+1]
	if len(after) >= len(before) {
		t.Errorf("%d contents before, %d after", len(before), len(after))
	}
	call, response := after[len(after)-2].Parts[0].FunctionCall, after[len(after)-1].Parts[0].FunctionResponse
	if call == nil || response == nil || call.Name != contexttool.CompactContextName || response.ID != call.ID {
		t.Error("the call and its answer are not at the end of the next request")
	}
}
