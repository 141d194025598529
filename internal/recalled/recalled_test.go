package recalled_test

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/recalled"
)

func TestWithoutLeavesEverythingElse(t *testing.T) {
	t.Parallel()
	text, call := genai.NewPartFromText("Let me look."), genai.NewPartFromFunctionCall("recall", map[string]any{"query": "visa"})
	answer, other := genai.NewPartFromFunctionResponse("recall_turn", nil), genai.NewPartFromFunctionCall("recall_order", nil)
	ev := &session.Event{LLMResponse: model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{text, call, nil, answer, other}, genai.RoleModel)}}
	got := recalled.Without(ev)
	if len(got) != 3 || got[0] != text || got[1] != nil || got[2] != other || len(ev.Content.Parts) != 5 || ev.Content.Parts[1] != call {
		t.Errorf("got %v", got)
	}
	ev.Content.Parts = []*genai.Part{text, other}
	if got := recalled.Without(ev); len(got) != 2 || &got[0] != &ev.Content.Parts[0] {
		t.Errorf("a slice with nothing to leave out was copied: %v", got)
	}
	for _, ev := range []*session.Event{nil, {}} {
		if got := recalled.Without(ev); got != nil {
			t.Errorf("got %v for an event without content", got)
		}
	}
}
