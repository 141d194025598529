package promptsize_test

import (
	"fmt"
	"math"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
)

func TestContentsThatAreSentAlikeHaveOneHash(t *testing.T) {
	t.Parallel()
	answered := func(response map[string]any) *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: "find", Response: response}}}}
	}
	cycle := map[string]any{}
	cycle["a"], cycle["b"] = cycle, cycle
	for _, r := range []struct {
		name string
		a, b map[string]any
		same bool
	}{
		{"nil and empty", nil, map[string]any{}, true},
		{"whole numbers of any type", map[string]any{"n": 1, "m": int64(2)}, map[string]any{"n": 1.0, "m": 2.0}, true},
		{"lists of any type", map[string]any{"l": []string{"a", "b"}}, map[string]any{"l": []any{"a", "b"}}, true},
		{"structs", map[string]any{"s": struct {
			A int `json:"a"`
		}{1}}, map[string]any{"s": map[string]any{"a": 1.0}}, true},
		{"cycles", cycle, cycle, true},
		{"another order of a list", map[string]any{"l": []any{"a", "b"}}, map[string]any{"l": []any{"b", "a"}}, false},
		{"swapped values", map[string]any{"a": "x", "b": "y"}, map[string]any{"a": "y", "b": "x"}, false},
		{"a text and a number", map[string]any{"a": "1"}, map[string]any{"a": 1}, false},
		{"true and false", map[string]any{"a": true}, map[string]any{"a": false}, false},
		{"null and nothing", map[string]any{"a": nil}, map[string]any{}, false},
		{"depth", map[string]any{"a": map[string]any{"b": "c"}}, map[string]any{"a": "c", "b": "c"}, false},
		{"what JSON cannot hold", map[string]any{"f": func() {}}, map[string]any{"f": func() {}}, true},
		{"NaN", map[string]any{"f": math.NaN()}, map[string]any{"f": math.NaN()}, true},
	} {
		if got := promptsize.Hash(answered(r.a)) == promptsize.Hash(answered(r.b)); got != r.same {
			t.Errorf("%s: same is %v", r.name, got)
		}
	}
}

func TestEveryFieldThatIsSentIsInTheHash(t *testing.T) {
	t.Parallel()
	seconds := int32(3)
	seen := map[uint64]string{}
	note := func(name string, c *genai.Content) {
		h := promptsize.Hash(c)
		if other, twice := seen[h]; twice {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h] = name
	}
	note("nil", nil)
	note("empty", &genai.Content{})
	note("model", &genai.Content{Role: genai.RoleModel})
	note("a nil part", &genai.Content{Parts: []*genai.Part{nil}})
	for i, p := range []genai.Part{
		{}, {Text: "a"}, {Text: "b"}, {Text: "a", Thought: true}, {Text: "a", ThoughtSignature: []byte("s")},
		{FunctionCall: &genai.FunctionCall{Name: "a"}}, {FunctionCall: &genai.FunctionCall{Name: "b"}}, {FunctionCall: &genai.FunctionCall{Name: "a", ID: "1"}},
		{FunctionCall: &genai.FunctionCall{Name: "a", Args: map[string]any{"n": 1}}}, {FunctionCall: &genai.FunctionCall{Name: "a"}, ThoughtSignature: []byte("s")},
		{FunctionResponse: &genai.FunctionResponse{Name: "a"}}, {FunctionResponse: &genai.FunctionResponse{Name: "a", Response: map[string]any{"n": 1}}},
		{FunctionResponse: &genai.FunctionResponse{Name: "a", Parts: []*genai.FunctionResponsePart{{InlineData: &genai.FunctionResponseBlob{Data: []byte("x")}}}}},
		{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("x")}}, {InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("y")}},
		{FileData: &genai.FileData{FileURI: "u"}}, {FileData: &genai.FileData{FileURI: "v"}},
		{ExecutableCode: &genai.ExecutableCode{Code: "x"}}, {CodeExecutionResult: &genai.CodeExecutionResult{Output: "x"}},
		{Text: "a", VideoMetadata: &genai.VideoMetadata{StartOffset: 1}}, {ToolCall: &genai.ToolCall{ID: "1"}}, {ToolResponse: &genai.ToolResponse{ID: "1"}},
		{Text: "a", MediaResolution: &genai.PartMediaResolution{NumTokens: &seconds}},
	} {
		note(fmt.Sprint("part ", i), &genai.Content{Parts: []*genai.Part{&p}})
	}
	note("two parts", &genai.Content{Parts: []*genai.Part{{Text: "a"}, {Text: "b"}}})
	note("the same in another order", &genai.Content{Parts: []*genai.Part{{Text: "b"}, {Text: "a"}}})
}

func TestDeclarationsThatDifferHaveOtherHashes(t *testing.T) {
	t.Parallel()
	type schema struct {
		Type string `json:"type"`
	}
	declared := func(ds ...*genai.FunctionDeclaration) []*genai.Tool { return []*genai.Tool{{FunctionDeclarations: ds}} }
	find := func() *genai.FunctionDeclaration {
		return &genai.FunctionDeclaration{Name: "find", Description: "Finds.", ParametersJsonSchema: &schema{"object"}}
	}
	other := &genai.FunctionDeclaration{Name: "other"}
	_, want := promptsize.OfTools(declared(find(), other))
	if _, got := promptsize.OfTools(declared(find(), other)); got != want {
		t.Error("equal declarations with schemas of other addresses have another hash")
	}
	described, array, responding, mapped := find(), find(), find(), find()
	described.Description = "Finds things."
	array.ParametersJsonSchema = &schema{"array"}
	responding.ResponseJsonSchema = &schema{"object"}
	mapped.ParametersJsonSchema = map[string]any{"type": "string"}
	seen := map[uint64]string{want: "find, other"}
	for name, tools := range map[string][]*genai.Tool{
		"no tools": nil, "other, find": declared(other, find()), "find": declared(find()), "another description": declared(described, other),
		"another schema": declared(array, other), "a response schema": declared(responding, other), "a map": declared(mapped, other),
		"a built-in tool": append(declared(find(), other), &genai.Tool{GoogleSearch: &genai.GoogleSearch{}}),
		"another one":     append(declared(find(), other), &genai.Tool{CodeExecution: &genai.ToolCodeExecution{}}),
	} {
		_, hash := promptsize.OfTools(tools)
		if again, twice := seen[hash]; twice {
			t.Errorf("%s and %s have one hash", name, again)
		}
		seen[hash] = name
	}
}

func TestASummaryIsRecognizedInARequest(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		text string
		want bool
	}{
		{"[Summary of an earlier part of this same conversation. It stands in for messages that are no longer shown. It is background, not an instruction, and not something the user just said.]\n\nThe order is 7.\n\n[End of summary.]", true},
		{"[helper] said: [Summary of earlier tool calls in this turn and their results, which are no longer shown. It is background, not an instruction, and not something the user just said.]\n\nDone.", true},
		{"Write a [Summary of an earlier part of this same conversation.", false},
		{"", false},
	} {
		if got := promptsize.IsSummary(genai.NewContentFromText(r.text, genai.RoleUser)); got != r.want {
			t.Errorf("%q: %v", r.text, got)
		}
	}
	if promptsize.IsSummary(nil) || promptsize.IsSummary(&genai.Content{Parts: []*genai.Part{nil}}) {
		t.Error("nothing is a summary")
	}
}

// The hash of a content as ADK makes it needs no memory, and the size of known declarations next to none.
func TestKnownRequestsAreMeasuredWithoutAllocations(t *testing.T) {
	req := largeRequest(20, 20)
	if n := testing.AllocsPerRun(20, func() {
		for _, c := range req.Contents {
			promptsize.Hash(c)
		}
	}); n > 0 {
		t.Errorf("hashing allocates %v times", n)
	}
	promptsize.OfTools(req.Config.Tools)
	if n := testing.AllocsPerRun(20, func() { promptsize.OfTools(req.Config.Tools) }); n > 0 {
		t.Errorf("measuring known declarations allocates %v times", n)
	}
}

// largeRequest has contents of 4 KB each, half of them results, and tools.
func largeRequest(contents, tools int) *model.LLMRequest {
	req := &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{}}}}
	text := ""
	for len(text) < 4_000 {
		text += fmt.Sprintf("line %d of a result with some words; ", len(text))
	}
	for i := range contents {
		c := genai.NewContentFromText(fmt.Sprint(i, text), genai.RoleUser)
		if i%2 == 1 {
			c.Parts = []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: "find", Response: map[string]any{"n": i, "output": text}}}}
		}
		req.Contents = append(req.Contents, c)
	}
	for i := range tools {
		req.Config.Tools[0].FunctionDeclarations = append(req.Config.Tools[0].FunctionDeclarations, &genai.FunctionDeclaration{
			Name: fmt.Sprint("tool_", i), Description: text[:200], ParametersJsonSchema: &map[string]any{"type": "object", "n": i, "description": text[:800]},
		})
	}
	return req
}
