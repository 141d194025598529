package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/catalog"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// catalogTool is a tool of the catalog, as one of an MCP server is. It has the methods that ADK looks for.
type catalogTool struct {
	catalog.Tool
	declaration *genai.FunctionDeclaration
	returned    func(map[string]any)
	runs        *atomic.Int32
}

// catalogTools are the first n tools of the catalog. Each result goes to returned.
func (a *toolApp) catalogTools(n int) []tool.Tool {
	var tools []tool.Tool
	for _, t := range catalog.Tools()[:n] {
		tools = append(tools, &catalogTool{t, t.Declaration(), a.seen.returned, &a.seen.catalogRuns})
	}
	return tools
}

func (t *catalogTool) Name() string                            { return t.Tool.Name }
func (t *catalogTool) Description() string                     { return t.Tool.Description }
func (*catalogTool) IsLongRunning() bool                       { return false }
func (*catalogTool) Category() toolsearch.Category             { return toolsearch.MCP }
func (t *catalogTool) Declaration() *genai.FunctionDeclaration { return t.declaration }

func property(schema map[string]any, name string) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	of, _ := properties[name].(map[string]any)
	return of
}

func (t *catalogTool) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	if req.Tools == nil {
		req.Tools = map[string]any{}
	}
	if req.Tools[t.Name()] != nil {
		return fmt.Errorf("the tool %s is there twice", t.Name())
	}
	req.Tools[t.Name()] = t
	if req.Config == nil {
		req.Config = &genai.GenerateContentConfig{}
	}
	for _, group := range req.Config.Tools {
		if group.FunctionDeclarations != nil {
			group.FunctionDeclarations = append(group.FunctionDeclarations, t.declaration)
			return nil
		}
	}
	req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{t.declaration}})
	return nil
}

// Run checks the arguments, and returns a result that depends on them alone. Every third one is large.
func (t *catalogTool) Run(_ agent.ToolContext, args any) (map[string]any, error) {
	given, _ := args.(map[string]any)
	for _, name := range required(t.Schema) {
		if _, ok := given[name]; !ok {
			return nil, fmt.Errorf("%s was called without %s: %v", t.Name(), name, given)
		}
	}
	t.runs.Add(1)
	result := map[string]any{"tool": t.Name(), "args": canonical(given), "output": "done"}
	if len(t.Name())%3 == 0 {
		result["output"] = strings.Repeat("a line about "+t.Name()+"\n", 400)
	}
	t.returned(result)
	return result, nil
}

func required(schema map[string]any) []string {
	list, _ := schema["required"].([]any)
	var names []string
	for _, name := range list {
		names = append(names, fmt.Sprint(name))
	}
	return names
}

// arguments are valid for a schema: its required properties, and nothing else.
func arguments(schema map[string]any) map[string]any {
	args := map[string]any{}
	for _, name := range required(schema) {
		args[name] = sample(property(schema, name))
	}
	return args
}

// sample is a value that a schema accepts.
func sample(schema map[string]any) any {
	if enum, ok := schema["enum"].([]any); ok && len(enum) > 0 {
		return enum[0]
	}
	switch schema["type"] {
	case "integer", "number":
		return float64(7)
	case "boolean":
		return true
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{sample(items)}
	case "object":
		return arguments(schema)
	}
	return "main"
}

// seeker makes a worker use tools of the catalog. It calls a tool that is declared, and searches for one
// that is not.
type seeker struct {
	tools []*catalogTool
	// byName makes it call tools by their names, declared or not, as a model does that knows them from earlier
	// turns.
	byName bool

	next                      int
	want                      *catalogTool // it has searched for this one
	direct, searched, bridged int
}

// over returns a seeker for tools of the catalog.
func over(tools []tool.Tool) *seeker {
	s := &seeker{}
	for _, t := range tools {
		if known, ok := t.(*catalogTool); ok {
			s.tools = append(s.tools, known)
		}
	}
	return s
}

// begin calls the next tool, or searches for it. From one call to the next it goes some way through the
// catalog, so all servers are used, and some tools several times.
func (s *seeker) begin(req *model.LLMRequest) *model.LLMResponse {
	t := s.tools[s.next%len(s.tools)]
	s.next += 37
	if s.byName || declares(req, t.Name()) {
		s.direct++
		return compactiontest.CallTool(t.Name(), arguments(t.Schema))
	}
	s.want = t
	s.searched++
	return compactiontest.CallTool(toolsearch.SearchToolName, map[string]any{"query": t.Name()})
}

// call calls the tool that was searched for, in the very next step.
func (s *seeker) call(w *worker, req *model.LLMRequest, found *genai.FunctionResponse) *model.LLMResponse {
	t := s.want
	s.want = nil
	if hits := hitsOf(found); !slices.Contains(hits, t.Name()) {
		w.a.t.Errorf("%s: a search for %s finds %v", w.name, t.Name(), hits)
	}
	if declares(req, t.Name()) {
		s.direct++
		return compactiontest.CallTool(t.Name(), arguments(t.Schema))
	}
	s.bridged++
	return compactiontest.CallTool(toolsearch.CallToolName, map[string]any{"name": t.Name(), "arguments": arguments(t.Schema)})
}

// hitsOf are the names in an answer of tool_search.
func hitsOf(response *genai.FunctionResponse) []string {
	var names []string
	list, _ := response.Response["tools"].([]any)
	for _, hit := range list {
		fields, _ := hit.(map[string]any)
		names = append(names, fmt.Sprint(fields["name"]))
	}
	return names
}

// declares reports whether a request declares a function.
func declares(req *model.LLMRequest, name string) bool {
	return req.Config != nil && slices.ContainsFunc(req.Config.Tools, func(t *genai.Tool) bool {
		return slices.ContainsFunc(t.FunctionDeclarations, func(d *genai.FunctionDeclaration) bool { return d.Name == name })
	})
}
