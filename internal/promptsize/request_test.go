package promptsize_test

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestARequestIsItsContentsAndWhatIsFixed(t *testing.T) {
	t.Parallel()
	hello := genai.NewContentFromText("Hello, how are you?", genai.RoleUser)
	rules := genai.NewContentFromText(strings.Repeat("Be brief. ", 50), genai.RoleUser)
	tool := func(schema any) *genai.Tool {
		d := &genai.FunctionDeclaration{Name: "find", Description: "Finds things.", ParametersJsonSchema: schema}
		return &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{d, nil}}
	}
	declared := promptsize.EventOverhead + tokens.Estimate("find") + tokens.Estimate("Finds things.")
	schema := map[string]any{"type": "object"}
	for _, r := range []struct {
		name            string
		req             *model.LLMRequest
		contents, fixed int
	}{
		{"nil", nil, 0, 0},
		{"contents", &model.LLMRequest{Contents: []*genai.Content{hello, hello}}, 2 * (tokens.OfContent(hello) + promptsize.EventOverhead), 0},
		{"instructions", &model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: rules}}, 0, tokens.OfContent(rules)},
		{"a tool", &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{nil, tool(nil)}}}, 0, declared},
		{"a schema", &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{tool(schema)}}}, 0, declared + tokens.Estimate(`{"type":"object"}`)},
		{"a shared schema", &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{tool(&schema), tool(&schema)}}}, 0,
			2 * (declared + tokens.Estimate(`{"type":"object"}`))},
		{"a schema that has no JSON", &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{tool(func() {})}}}, 0, declared},
	} {
		if contents, fixed := promptsize.OfRequest(r.req); contents != r.contents || fixed != r.fixed {
			t.Errorf("%s: %d and %d tokens, want %d and %d", r.name, contents, fixed, r.contents, r.fixed)
		}
	}
}

// chain marshals itself, as the schemas of MCP tools do.
type chain struct{ Next *chain }

func (c chain) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]any{"next": c.Next}) }

type panics struct{}

func (*panics) MarshalJSON() ([]byte, error) { panic("no") }

// TestASchemaThatContainsItselfIsNotMeasured: marshaling one of them would end the process.
func TestASchemaThatContainsItselfIsNotMeasured(t *testing.T) {
	t.Parallel()
	own := &chain{}
	own.Next = own
	tree := &genai.Schema{Type: genai.TypeObject}
	tree.Properties = map[string]*genai.Schema{"child": tree}
	object := map[string]any{}
	object["self"] = []any{object}
	for name, d := range map[string]*genai.FunctionDeclaration{
		"a marshaler": {Name: "find", ParametersJsonSchema: own},
		"genai's":     {Name: "find", Parameters: tree},
		"a map":       {Name: "find", ParametersJsonSchema: object},
		"a response":  {Name: "find", ResponseJsonSchema: own},
		"a panic":     {Name: "find", ParametersJsonSchema: &panics{}},
	} {
		for range 2 {
			if got, want := promptsize.OfDeclaration(d), promptsize.EventOverhead+tokens.Estimate("find"); got != want {
				t.Errorf("%s: %d tokens, want %d", name, got, want)
			}
		}
	}
	if got := promptsize.OfDeclaration(nil); got != 0 {
		t.Errorf("no declaration has %d tokens", got)
	}
}
