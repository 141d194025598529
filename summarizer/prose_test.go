package summarizer_test

import (
	"errors"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/summarizer"
)

// payloads are parts that must not reach a stored summary, each with text next to the payload.
func payloads() map[string]*genai.Part {
	return map[string]*genai.Part{
		"function call":     {Text: "t", FunctionCall: &genai.FunctionCall{Name: "f"}},
		"function response": {Text: "t", FunctionResponse: &genai.FunctionResponse{Name: "f"}},
		"tool call":         {Text: "t", ToolCall: &genai.ToolCall{}},
		"tool response":     {Text: "t", ToolResponse: &genai.ToolResponse{}},
		"inline data":       {Text: "t", InlineData: &genai.Blob{}},
		"file data":         {Text: "t", FileData: &genai.FileData{}},
		"code":              {Text: "t", ExecutableCode: &genai.ExecutableCode{}},
		"code result":       {Text: "t", CodeExecutionResult: &genai.CodeExecutionResult{}},
		"thought":           {Text: "t", Thought: true},
	}
}

func TestOnlyProseSurvives(t *testing.T) {
	t.Parallel()
	for name, part := range payloads() {
		if text, err := summarizer.Prose(&genai.Content{Parts: []*genai.Part{part}}); !errors.Is(err, summarizer.ErrUnusable) {
			t.Errorf("%s alone: %q, %v", name, text, err)
		}
		text, err := summarizer.Prose(&genai.Content{Parts: []*genai.Part{{Text: "Hel"}, part, nil, {Text: "lo "}}})
		if err != nil || text != "Hello " {
			t.Errorf("%s among text: %q, %v", name, text, err)
		}
	}
}

func TestProseOfNothingIsUnusable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*genai.Content{
		"nil":        nil,
		"no parts":   {},
		"nil part":   {Parts: []*genai.Part{nil}},
		"empty":      {Parts: []*genai.Part{{}}},
		"blanks":     {Parts: []*genai.Part{{Text: " \n\t"}, {Text: "\u00a0\u3000"}}},
		"zero width": {Parts: []*genai.Part{{Text: "\u200b\ufeff\u200d"}}},
	} {
		if text, err := summarizer.Prose(c); !errors.Is(err, summarizer.ErrUnusable) || text != "" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
