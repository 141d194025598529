package main

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/tokens"
)

// scripted is a model that works through the tasks. Of the tools it knows only what its prompt has: it
// calls a tool that is declared, or that an earlier search has found, and searches for any other.
type scripted struct {
	*provider
	name     string
	open     []use // of this turn
	searched bool  // for the first of open
	searches int
	missed   []string // tools that a search did not find
}

func (s *scripted) Name() string { return s.name }

// GenerateContent counts the request as a provider does, and answers with the next step of the turn.
func (s *scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		s.receive(req)
		content := s.step(req)
		s.written += tokens.Estimate(encode(content))
		for _, part := range content.Parts {
			if part.FunctionCall != nil { // ADK would make up another one in each run
				part.FunctionCall.ID = fmt.Sprint("call-", s.requests)
			}
		}
		yield(&model.LLMResponse{Content: content}, nil)
	}
}

func (s *scripted) step(req *model.LLMRequest) *genai.Content {
	for len(s.open) > 0 {
		next := s.open[0]
		schema, declared := schemaOf(req, next.tool)
		switch {
		case declared:
			s.done()
			return genai.NewContentFromFunctionCall(next.tool, arguments(schema), genai.RoleModel)
		case schema != nil && has(req, toolsearch.CallToolName):
			s.done()
			return genai.NewContentFromFunctionCall(toolsearch.CallToolName,
				map[string]any{"name": next.tool, "arguments": arguments(schema)}, genai.RoleModel)
		case !s.searched && has(req, toolsearch.SearchToolName):
			s.searched = true
			s.searches++
			return genai.NewContentFromFunctionCall(toolsearch.SearchToolName, map[string]any{"query": next.words}, genai.RoleModel)
		}
		s.missed = append(s.missed, next.tool)
		s.done()
	}
	return genai.NewContentFromText("It is done.", genai.RoleModel)
}

func (s *scripted) done() { s.open, s.searched = s.open[1:], false }

func has(req *model.LLMRequest, name string) bool {
	_, declared := schemaOf(req, name)
	return declared
}

// schemaOf finds the parameters of a tool: in its declaration, or in the answer to a search.
func schemaOf(req *model.LLMRequest, name string) (schema any, declared bool) {
	for _, t := range req.Config.Tools {
		for _, decl := range t.FunctionDeclarations {
			if decl.Name == name {
				return decl.ParametersJsonSchema, true
			}
		}
	}
	for _, content := range slices.Backward(req.Contents) {
		for _, part := range content.Parts {
			if part.FunctionResponse == nil || part.FunctionResponse.Name != toolsearch.SearchToolName {
				continue
			}
			found, _ := part.FunctionResponse.Response["tools"].([]any)
			for _, hit := range found {
				if hit, ok := hit.(map[string]any); ok && hit["name"] == name {
					return hit["parameters"], false
				}
			}
		}
	}
	return nil, false
}

// arguments returns arguments that a JSON Schema allows: its required properties.
func arguments(schema any) map[string]any {
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	args := map[string]any{}
	for _, key := range required {
		name, _ := key.(string)
		args[name] = value(properties[name])
	}
	return args
}

func value(schema any) any {
	property, _ := schema.(map[string]any)
	if choices, ok := property["enum"].([]any); ok && len(choices) > 0 {
		return choices[0]
	}
	switch property["type"] {
	case "object":
		return arguments(property)
	case "array":
		return []any{value(property["items"])}
	case "integer", "number":
		return 1
	case "boolean":
		return true
	}
	return "checkout"
}
