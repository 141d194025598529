package replay

import (
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

func said(role genai.Role, text string) *genai.Content { return textContent(text, role) }

func called(ids ...string) *genai.Content {
	c := &genai.Content{Role: genai.RoleModel}
	for _, id := range ids {
		c.Parts = append(c.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: "look", Args: map[string]any{"at": id}}})
	}
	return c
}

func answered(result any, ids ...string) *genai.Content {
	c := &genai.Content{Role: genai.RoleUser}
	for _, id := range ids {
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: "look", Response: map[string]any{"result": result}}})
	}
	return c
}

func request(contents ...*genai.Content) *model.LLMRequest {
	return &model.LLMRequest{Contents: contents, Config: &genai.GenerateContentConfig{SystemInstruction: said("", "Be kind.")}}
}

func TestThePrefixIsTheUnchangedStartOfAPrompt(t *testing.T) {
	t.Parallel()
	size := func(contents ...*genai.Content) int {
		return tokens.OfContents(contents) + tokens.Estimate("Be kind.")
	}
	one, two, three := said("user", "one"), said("model", "two and more"), said("user", "three")
	g := newGauge()
	if m := g.measure(request(one)); m.prefix != 0 || m.size != size(one) {
		t.Errorf("first request: %+v, want size %d and no prefix", m, size(one))
	}
	if m := g.measure(request(one, two, three)); m.prefix != size(one) {
		t.Errorf("prefix %d after one more turn, want %d", m.prefix, size(one))
	}
	if m := g.measure(request(said("user", "summary"), two, three)); m.prefix != size() {
		t.Errorf("prefix %d with a different first message, want the instruction's %d", m.prefix, size())
	}
}

func TestContentsDifferInEverythingThatAPromptShows(t *testing.T) {
	t.Parallel()
	g := newGauge()
	seen := map[uint64]int{}
	contents := []*genai.Content{
		nil,
		said("user", "a"),
		said("model", "a"),
		said("user", "b"),
		{Role: "user", Parts: []*genai.Part{{Text: "a", Thought: true}}},
		called("1"),
		called("2"),
		called("1", "2"),
		answered("a", "1"),
		answered("b", "1"),
		answered([]any{"a"}, "1"),
		answered(map[string]any{"a": 1.5}, "1"),
		answered(map[string]any{"a": true}, "1"),
		answered(nil, "1"),
		{Role: "user", Parts: []*genai.Part{{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("a")}}}},
		{Role: "user", Parts: []*genai.Part{{FileData: &genai.FileData{MIMEType: "image/png", FileURI: "a"}}}},
		{Role: "model", Parts: []*genai.Part{{ExecutableCode: &genai.ExecutableCode{Code: "a"}}}},
		{Role: "model", Parts: []*genai.Part{{CodeExecutionResult: &genai.CodeExecutionResult{Output: "a"}}}},
	}
	for i, c := range contents {
		id := g.identity(c)
		if j, twice := seen[id]; twice {
			t.Errorf("contents %d and %d count as equal", j, i)
		}
		seen[id] = i
		if g.identity(c) != id {
			t.Errorf("content %d does not equal itself", i)
		}
	}
}

func TestOrphansAreCountedOnBothSides(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		contents []*genai.Content
		want     int
	}{
		{"pairs", []*genai.Content{said("user", "go"), called("1", "2"), answered("x", "1", "2")}, 0},
		{"responses in two messages", []*genai.Content{called("1", "2"), answered("x", "2"), answered("x", "1")}, 0},
		{"a call alone", []*genai.Content{called("1", "2"), answered("x", "1")}, 1},
		{"a response alone", []*genai.Content{answered("x", "1"), said("user", "go")}, 1},
		{"a response before its call", []*genai.Content{answered("x", "1"), called("1")}, 2},
		{"answered twice", []*genai.Content{called("1"), answered("x", "1"), answered("x", "1")}, 1},
		{"without IDs", []*genai.Content{called("", ""), answered("x", "", "")}, 0},
	} {
		if got := orphans(r.contents); got != r.want {
			t.Errorf("%s: %d orphans, want %d", r.name, got, r.want)
		}
	}
}

// Declarations are a part of the prefix as long as they stay the same.
func TestDeclarationsBelongToThePrefix(t *testing.T) {
	t.Parallel()
	g := newGauge()
	tool := func(name, description string) *genai.Tool {
		return &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: name, Description: description}}}
	}
	request := func(tools ...*genai.Tool) *model.LLMRequest {
		return &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("hello", genai.RoleUser)}, Config: &genai.GenerateContentConfig{Tools: tools}}
	}
	none := g.measure(request())
	if unknown := g.measure(request(tool("a", recordedTool))); unknown.size != none.size {
		t.Errorf("a tool that the recording does not declare changes the size from %d to %d", none.size, unknown.size)
	}
	first := g.measure(request(tool("a", "Finds things.")))
	if first.prefix != 0 || first.declared == 0 || first.size != none.size+first.declared {
		t.Errorf("new declarations: %+v after %+v", first, none)
	}
	if again := g.measure(request(tool("a", "Finds things."))); again.prefix != again.size {
		t.Errorf("the same declarations: %+v", again)
	}
	if other := g.measure(request(tool("a", "Finds everything."))); other.prefix != 0 {
		t.Errorf("another declaration: %+v", other)
	}
}
