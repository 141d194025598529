package integration_test

import (
	"context"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// The sizes of schemas are therefore remembered by their pointers.
func TestPinTheSchemaOfADeclarationKeepsItsPointer(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	declared := map[*genai.FunctionDeclaration]bool{}
	schemas := map[any]bool{}
	requests := 0
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		requests++
		for _, of := range req.Config.Tools {
			for _, d := range of.FunctionDeclarations {
				declared[d], schemas[d.ParametersJsonSchema] = true, true
			}
		}
		if n < 3 {
			return compactiontest.CallTool("look", map[string]any{})
		}
		return compactiontest.Say("Done.")
	}}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{pinTool(t, "look", nil)} })
	if err := pinTurn(t, service, root); err != nil {
		t.Fatal(err)
	}
	if requests != 4 || len(declared) != 4 || len(schemas) != 1 {
		t.Errorf("%d requests with %d declarations and %d schemas", requests, len(declared), len(schemas))
	}
}
