package adk_test

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// A request may have another tool of a name: one that ADK runs, or a declaration of the app's.
func TestATwinByNameIsAnotherTool(t *testing.T) {
	t.Parallel()
	named := func(description string) tool.Tool {
		made, err := functiontool.New(functiontool.Config{Name: "recall", Description: description}, func(agent.ToolContext, struct{}) (string, error) { return "", nil })
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	declaring := func(description string) *genai.GenerateContentConfig {
		return &genai.GenerateContentConfig{Tools: []*genai.Tool{nil, {}, {FunctionDeclarations: []*genai.FunctionDeclaration{nil, {Name: "recall", Description: description}}}}}
	}
	ours := named("ours")
	for name, row := range map[string]struct {
		req        *model.LLMRequest
		other, has bool
	}{
		"no request":            {nil, false, false},
		"no tool":               {&model.LLMRequest{Config: &genai.GenerateContentConfig{}}, false, false},
		"ours":                  {&model.LLMRequest{Tools: map[string]any{"recall": ours}, Config: declaring("ours")}, false, true},
		"another instance":      {&model.LLMRequest{Tools: map[string]any{"recall": named("ours")}, Config: declaring("ours")}, false, true},
		"ours, not declared":    {&model.LLMRequest{Tools: map[string]any{"recall": ours}}, false, false},
		"declared by hand":      {&model.LLMRequest{Config: declaring("ours")}, false, true},
		"another":               {&model.LLMRequest{Tools: map[string]any{"recall": named("theirs")}, Config: declaring("theirs")}, true, false},
		"another, not declared": {&model.LLMRequest{Tools: map[string]any{"recall": named("theirs")}}, true, false},
		"another by hand":       {&model.LLMRequest{Config: declaring("theirs")}, true, false},
	} {
		if other, has := adk.HasOther(row.req, ours), adk.Has(row.req, ours); other != row.other || has != row.has {
			t.Errorf("%s: another %v, ours %v; want %v, %v", name, other, has, row.other, row.has)
		}
	}
}
