package budget

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// BenchmarkMeasure measures a request of 200 contents of 4 KB and 100 tools that has grown by one content.
func BenchmarkMeasure(b *testing.B) {
	m := newMeter(b, Config{})
	who := caller{ref: ref, agent: "assistant", model: "test-model"}
	req := &model.LLMRequest{Config: &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText(strings.Repeat("Be brief. ", 1_000), genai.RoleUser), Tools: []*genai.Tool{{}},
	}}
	text := strings.Repeat("a line of a result with some words; ", 110)
	for i := range 200 {
		response := map[string]any{"n": i, "output": text}
		req.Contents = append(req.Contents, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: "find", Response: response}}}})
	}
	for i := range 100 {
		req.Config.Tools[0].FunctionDeclarations = append(req.Config.Tools[0].FunctionDeclarations, &genai.FunctionDeclaration{
			Name: fmt.Sprint("tool_", i), Description: text[:200], ParametersJsonSchema: &map[string]any{"type": "object", "n": i, "description": text[:800]},
		})
	}
	m.measure(who, req)
	last := req.Contents[199].Parts[0].FunctionResponse.Response
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		last["n"] = i
		m.sent(b.Context(), who, m.measure(who, req), 0)
	}
}
