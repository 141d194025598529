package toolresult_test

import (
	"encoding/json"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

func declared(req *model.LLMRequest, name string) (n int) {
	for _, t := range req.Config.Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d.Name == name {
				n++
			}
		}
	}
	return n
}

func TestAToolIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	src, _ := holding("")
	read := newReader(t, src, toolresult.ReadOptions{}).tool
	for name, config := range map[string]*genai.GenerateContentConfig{
		"no config":            nil,
		"no tools":             {},
		"other functions":      {Tools: []*genai.Tool{nil, {FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "grep"}}}}},
		"built-in and others":  {Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}, {FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "grep"}}}}},
		"declared already":     {Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "grep"}}}, {FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read_result"}}}}},
		"a plain text is fine": {ResponseMIMEType: "text/plain"},
	} {
		req := &model.LLMRequest{Config: config, Contents: genai.Text("[...]; read_result reads it whole, with ref_id r-0123456789abcdef]")}
		for range 3 {
			if !adk.Declare(req, read) {
				t.Errorf("%s: refused", name)
			}
		}
		if req.Tools["read_result"] != read || declared(req, "read_result") != 1 {
			t.Errorf("%s: %d declarations, tools %v", name, declared(req, "read_result"), req.Tools)
		}
	}
}

func TestARequestThatCannotTakeAFunctionIsLeftAlone(t *testing.T) {
	t.Parallel()
	src, _ := holding("")
	read := newReader(t, src, toolresult.ReadOptions{}).tool
	for name, config := range map[string]*genai.GenerateContentConfig{
		"a response schema":        {ResponseSchema: &genai.Schema{}},
		"a response schema as any": {ResponseJsonSchema: map[string]any{}},
		"JSON":                     {ResponseMIMEType: "application/json"},
		"cached content":           {CachedContent: "cachedContents/1"},
		"search only":              {Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}},
		"code execution only":      {Tools: []*genai.Tool{nil, {CodeExecution: &genai.ToolCodeExecution{}}}},
	} {
		before, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		req := &model.LLMRequest{Config: config}
		if adk.Declare(req, read) {
			t.Errorf("%s: declared", name)
		}
		after, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		if string(after) != string(before) || req.Tools != nil {
			t.Errorf("%s: %s became %s, tools %v", name, before, after, req.Tools)
		}
	}
	if adk.Declare(nil, read) || adk.Declare(&model.LLMRequest{}, nil) || adk.Declare(&model.LLMRequest{}, named("x")) {
		t.Error("nothing was declared")
	}
}

// named is a tool without a declaration.
type named string

func (n named) Name() string      { return string(n) }
func (named) Description() string { return "" }
func (named) IsLongRunning() bool { return false }

func TestTheAppsOwnToolsStay(t *testing.T) {
	t.Parallel()
	src, _ := holding("")
	read := newReader(t, src, toolresult.ReadOptions{}).tool
	another := newReader(t, src, toolresult.ReadOptions{}).tool
	req := &model.LLMRequest{Tools: map[string]any{"read_result": another}}
	if !adk.Declare(req, read) || req.Tools["read_result"] != another || req.Config != nil {
		t.Errorf("the app offers the tool itself: %v", req)
	}
	for _, foreign := range []any{named("read_result"), "no tool"} {
		req := &model.LLMRequest{Tools: map[string]any{"read_result": foreign}}
		if adk.Declare(req, read) || req.Tools["read_result"] != foreign {
			t.Errorf("%v: a foreign tool was replaced", foreign)
		}
	}
}

func TestADeclarationDoesNotReachOtherRequests(t *testing.T) {
	t.Parallel()
	src, _ := holding("")
	read := newReader(t, src, toolresult.ReadOptions{}).tool
	shared := make([]*genai.FunctionDeclaration, 1, 8)
	shared[0] = &genai.FunctionDeclaration{Name: "grep"}
	requests := []*model.LLMRequest{}
	for range 2 {
		requests = append(requests, &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: shared}}}})
	}
	adk.Declare(requests[0], read)
	if got := shared[:2][1]; got != nil {
		t.Errorf("the declaration was written into an array of the app: %v", got)
	}
	if declared(requests[0], "read_result") != 1 || declared(requests[1], "read_result") != 0 {
		t.Error("the declaration is in another request")
	}
}

var _ tool.Tool = named("")
