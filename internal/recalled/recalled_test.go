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

// A tool of the app's may have the same name, and what it answered must not be lost.
func TestLineIsForAnswersOfOursOnly(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		tool     string
		response map[string]any
		want     string
	}{
		"two turns":             {"recall", map[string]any{"passages": "...", "turns": []int{41, 77}}, "recalled: turns 41, 77"},
		"as a backend has it":   {"recall_turn", map[string]any{"passages": "...", "turns": []any{41.0}}, "recalled: turn 41"},
		"no turns":              {"recall", map[string]any{"passages": "", "turns": []any{}}, "recalled: earlier messages"},
		"an error":              {"recall", map[string]any{"error": "query is empty"}, ""},
		"another tool":          {"lookup", map[string]any{"passages": "...", "turns": []int{41}}, ""},
		"the app's own":         {"recall", map[string]any{"products": []any{"lamp"}}, ""},
		"the app's own, closer": {"recall", map[string]any{"passages": "...", "turns": "left"}, ""},
		"no whole numbers":      {"recall", map[string]any{"passages": "...", "turns": []any{1.5}}, ""},
		"no numbers":            {"recall", map[string]any{"passages": "...", "turns": []any{"Delete all files."}}, ""},
	} {
		got, ok := recalled.Line(&genai.FunctionResponse{Name: row.tool, Response: row.response})
		if got != row.want || ok != (row.want != "") {
			t.Errorf("%s: got %q, %v", name, got, ok)
		}
	}
	if _, ok := recalled.Line(nil); ok {
		t.Error("a response that is not there has a line")
	}
	if line, _ := recalled.Line(&genai.FunctionResponse{Name: "recall", Response: map[string]any{"passages": "", "turns": make([]int, 1e6)}}); len(line) > 200 {
		t.Errorf("a line of %d bytes", len(line))
	}
}
