package toolresult_test

import (
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// read_result is declared where there may be something to read, and nowhere else.
func TestReadResultIsDeclaredWhereThereMayBeSomethingToRead(t *testing.T) {
	t.Parallel()
	src, _ := holding("")
	read := newReader(t, src, toolresult.ReadOptions{}).tool
	offering := func(names ...string) *genai.GenerateContentConfig {
		of := &genai.Tool{}
		for _, name := range names {
			of.FunctionDeclarations = append(of.FunctionDeclarations, &genai.FunctionDeclaration{Name: name})
		}
		return &genai.GenerateContentConfig{Tools: []*genai.Tool{of}}
	}
	response := func(name string, response map[string]any) []*genai.Content {
		return []*genai.Content{nil, {Parts: []*genai.Part{nil, {FunctionResponse: &genai.FunctionResponse{Name: name, Response: response}}}}}
	}
	const ref = "r-0123456789abcdef"
	long := map[string]any{"output": strings.Repeat("a line of a file\n", 4000)}
	cutter, err := toolresult.New(toolresult.Config{Readable: true})
	if err != nil {
		t.Fatal(err)
	}
	stub, _, _ := cutter.Response("look", long)
	for name, row := range map[string]struct {
		req  model.LLMRequest
		want bool
	}{
		"a chat":                       {model.LLMRequest{Contents: genai.Text("Hello"), Config: &genai.GenerateContentConfig{}}, false},
		"no config":                    {model.LLMRequest{Contents: genai.Text("What is a ref_id?")}, false},
		"a tool":                       {model.LLMRequest{Config: offering("look")}, true},
		"tools of MCP behind a search": {model.LLMRequest{Config: offering("tool_search", "tool_call")}, true},
		"tools with short answers":     {model.LLMRequest{Config: offering("transfer_to_agent", "recall", "recall_turn", "mark_task_done", "compact_context")}, false},
		"one tool more":                {model.LLMRequest{Config: offering("transfer_to_agent", "look")}, true},
		"a stub":                       {model.LLMRequest{Contents: response("look", stub)}, true},
		"a whole result":               {model.LLMRequest{Contents: response("look", long)}, false},
		"an app's own ref_id":          {model.LLMRequest{Contents: response("look", map[string]any{"ref_id": ref, "price": 12})}, false},
		"an answer of read_result":     {model.LLMRequest{Contents: response("read_result", map[string]any{"ref_id": ref, "content": "x", "done": true})}, true},
		"another agent's stub":         {model.LLMRequest{Contents: genai.Text("[desk] look tool returned result: {\"ref_id\":\"" + ref + "\",\"result\":\"...\"}")}, true},
		"a shortened message":          {model.LLMRequest{Contents: genai.Text("[truncated; read_result reads it whole, with ref_id " + ref + "]")}, true},
		"an instruction":               {model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("Use `read_result`.", genai.RoleUser)}}, true},
		"another instruction":          {model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("Do not read_results.", genai.RoleUser)}}, false},
	} {
		if got := adk.Declare(&row.req, read); got != row.want || (row.req.Tools["read_result"] != nil) != row.want {
			t.Errorf("%s: declared %v, want %v", name, got, row.want)
		}
	}
}
