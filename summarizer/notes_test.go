package summarizer_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/summarizer"
)

// A layer's note about a moment, such as a status, is not worth remembering, so neither summarizer reads it. If
// the agent itself writes a text that looks like a note, that text is read.
func TestSummariesLeaveNotesOut(t *testing.T) {
	t.Parallel()
	event := func(id, author string, role genai.Role, parts ...*genai.Part) *session.Event {
		ev := session.NewEventWithContext(t.Context(), "i")
		ev.ID, ev.Author, ev.Content = id, author, genai.NewContentFromParts(parts, role)
		return ev
	}
	result := map[string]any{"found": "the blue door", notes.StatusKey: notes.Status.ForTool("STALE"), notes.ContextKey: "[Context: STALE]"}
	events := []*session.Event{
		event("1", "user", genai.RoleUser, genai.NewPartFromText("Which door is it?"), genai.NewPartFromText(notes.Scratchpad.ForUser("STALE"))),
		event("2", "agent", genai.RoleModel, genai.NewPartFromFunctionCall("look", map[string]any{})),
		event("3", "agent", genai.RoleUser, genai.NewPartFromFunctionResponse("look", result)),
		event("4", "agent", genai.RoleModel, genai.NewPartFromText(notes.Status.ForUser("OWN WORDS"))),
	}
	var read string
	llm, err := summarizer.NewLLM(summarizer.LLMConfig{Model: reader{func(req *model.LLMRequest) {
		for _, c := range req.Contents {
			for _, p := range c.Parts {
				read += p.Text
			}
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := summarizer.Extractive{}.Summarize(t.Context(), summarizer.Request{Events: events})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Summarize(t.Context(), summarizer.Request{Events: events}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"the transcript": read, "the digest": digest.Content.Parts[0].Text} {
		if !strings.Contains(text, "the blue door") || strings.Contains(text, "STALE") {
			t.Errorf("%s is %s", name, text)
		}
	}
	if !strings.Contains(read, "OWN WORDS") {
		t.Error("the agent's own words are left out")
	}
}

// reader is a model that shows what it reads.
type reader struct{ read func(*model.LLMRequest) }

func (reader) Name() string { return "m" }
func (r reader) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		r.read(req)
		yield(&model.LLMResponse{Content: genai.NewContentFromText("It is the blue door.", genai.RoleModel)}, nil)
	}
}
