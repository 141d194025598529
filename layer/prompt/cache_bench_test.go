package prompt_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// instant answers at once.
type instant struct{}

func (instant) Name() string { return "gemini-2.5-pro" }

func (instant) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(&model.LLMResponse{}, nil) }
}

// asADKMakesIt returns requests with an instruction of 30 KB and 200 declarations: each has declarations of its
// own, but the same schemas.
func asADKMakesIt() func() *model.LLMRequest {
	text := strings.Repeat("Answer in whole sentences. ", 30_000/27)
	schemas := make([]any, 200)
	for i := range schemas {
		schemas[i] = &map[string]any{"type": "object", "properties": map[string]any{"query": map[string]any{"type": "string", "description": strings.Repeat("what to find ", 40)}}, "n": i}
	}
	return func() *model.LLMRequest {
		declared := make([]*genai.FunctionDeclaration, len(schemas))
		for i, schema := range schemas {
			declared[i] = &genai.FunctionDeclaration{Name: fmt.Sprint("tool_", i), Description: text[:200], ParametersJsonSchema: schema}
		}
		return &model.LLMRequest{Config: &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText(text, genai.RoleUser), Tools: []*genai.Tool{{FunctionDeclarations: declared}},
		}}
	}
}

// BenchmarkARequestThroughACache is the time that is added to a request, with a cache in use. Its limit is 1 ms.
func BenchmarkARequestThroughACache(b *testing.B) {
	for _, off := range []bool{false, true} {
		b.Run(map[bool]string{false: "on", true: "off"}[off], func(b *testing.B) {
			provider := newCaches()
			c, err := prompt.NewCache(prompt.CacheConfig{Enabled: !off, Client: provider})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = c.Close(context.Background()) })
			llm, next := c.Model(instant{}), asADKMakesIt()
			ask := func(req *model.LLMRequest) {
				for range llm.GenerateContent(b.Context(), req, false) {
				}
			}
			for !off && c.Stats().Live == 0 {
				ask(next())
				time.Sleep(time.Millisecond)
			}
			req := next()
			b.ReportAllocs()
			for b.Loop() {
				ask(req)
			}
			if s := c.Stats(); !off && s.Used == 0 {
				b.Error("no cache was used")
			}
		})
	}
}
