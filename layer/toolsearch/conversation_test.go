package toolsearch_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	adkrunner "google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/catalog"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// remote is a tool of a server.
type remote struct {
	decl *genai.FunctionDeclaration
	ran  func(name string)
}

func (r *remote) Name() string                            { return r.decl.Name }
func (r *remote) Description() string                     { return r.decl.Description }
func (r *remote) IsLongRunning() bool                     { return false }
func (r *remote) Declaration() *genai.FunctionDeclaration { return r.decl }
func (r *remote) Category() toolsearch.Category           { return toolsearch.MCP }

func (r *remote) Run(agent.ToolContext, any) (map[string]any, error) {
	if r.ran != nil {
		r.ran(r.decl.Name)
	}
	return map[string]any{"output": "the result of " + r.decl.Name}, nil
}

// ProcessRequest does what ADK's tools do.
func (r *remote) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	if req.Tools == nil {
		req.Tools = map[string]any{}
	}
	if _, twice := req.Tools[r.Name()]; twice {
		return fmt.Errorf("duplicate tool: %q", r.Name())
	}
	req.Tools[r.Name()] = r
	for _, t := range req.Config.Tools {
		if t != nil && t.FunctionDeclarations != nil {
			t.FunctionDeclarations = append(t.FunctionDeclarations, r.decl)
			return nil
		}
	}
	req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{r.decl}})
	return nil
}

// catalogTools are the tools of the catalog, read once.
var catalogTools = sync.OnceValue(catalog.Tools)

// servers returns the tools of the catalog. ran hears of each call.
func servers(ran func(string)) []tool.Tool {
	var tools []tool.Tool
	for _, t := range catalogTools() {
		tools = append(tools, &remote{t.Declaration(), ran})
	}
	return tools
}

// argsFor returns the least arguments that a tool of the catalog takes.
func argsFor(name string) map[string]any {
	i := slices.IndexFunc(catalogTools(), func(t catalog.Tool) bool { return t.Name == name })
	schema := catalogTools()[i].Schema
	args, _ := least(schema).(map[string]any)
	return args
}

func least(schema map[string]any) any {
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	switch schema["type"] {
	case "object":
		object := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			of, _ := properties[name.(string)].(map[string]any)
			object[name.(string)] = least(of)
		}
		return object
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{least(items)}
	case "string":
		return "text"
	case "boolean":
		return true
	default:
		return 1
	}
}

// sentRequest is a request as a provider gets it.
type sentRequest struct {
	config   string
	declared []string
	contents []string
	summary  string // the newest summary, "" for none
}

// provider is a model that checks its requests. It depends on the request alone, so that it answers the same
// in every process.
type provider struct {
	tb   testing.TB
	mu   sync.Mutex
	sent []sentRequest
	// answer is what the model says to a request. The default is converse.
	answer func(req *model.LLMRequest) *model.LLMResponse
}

func (*provider) Name() string { return "m" }

func (p *provider) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range append(requests.Problems(req.Contents), requests.Undeclared(req)...) {
			p.tb.Errorf("request %d: %s", len(p.sent), problem)
		}
		now := sentRequest{config: toJSON(p.tb, req.Config), declared: declaredIn(req)}
		for _, c := range req.Contents {
			now.contents = append(now.contents, toJSON(p.tb, c))
			if text := c.Parts[0].Text; strings.HasPrefix(text, "[Summary of") {
				now.summary = text
			}
		}
		p.sent = append(p.sent, now)
		answer := p.answer
		if answer == nil {
			answer = converse
		}
		yield(answer(req), nil)
	}
}

// breaks counts requests that do not extend the one before them, with the tools as their own kind.
func (p *provider) breaks() (config, contents int) {
	for i := 1; i < len(p.sent); i++ {
		before, now := p.sent[i-1], p.sent[i]
		if before.config != now.config {
			config++
		}
		if len(now.contents) < len(before.contents) || !slices.Equal(before.contents, now.contents[:len(before.contents)]) {
			contents++
		}
	}
	return config, contents
}

func toJSON(tb testing.TB, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		tb.Error(err)
	}
	return string(data)
}

// declaredIn returns the names of the declarations of a request.
func declaredIn(req *model.LLMRequest) []string {
	var out []string
	if req.Config == nil {
		return nil
	}
	for _, t := range req.Config.Tools {
		if t != nil {
			for _, d := range t.FunctionDeclarations {
				out = append(out, d.Name)
			}
		}
	}
	return out
}

// converse answers a request. In most turns it searches for a tool, calls it and says something.
func converse(req *model.LLMRequest) *model.LLMResponse {
	turn, searched, ran := 0, false, false
	for _, c := range slices.Backward(req.Contents) {
		for _, r := range requests.Responses(c) {
			searched = searched || r.Name == toolsearch.SearchToolName
			ran = ran || r.Name != toolsearch.SearchToolName
		}
		if n, err := fmt.Sscanf(c.Parts[0].Text, "turn %d", &turn); n == 1 && err == nil {
			break
		}
	}
	tools := catalogTools()
	first, second := tools[turn*7%len(tools)].Name, tools[(turn/6*11+3)%len(tools)].Name
	declared := declaredIn(req)
	call := func(name string) *genai.Part {
		args := argsFor(name)
		if turn%5 == 4 { // the model knows the tool from its name alone
			return &genai.Part{FunctionCall: &genai.FunctionCall{Name: name, Args: args}}
		}
		if slices.Contains(declared, toolsearch.CallToolName) && !slices.Contains(declared, name) {
			return &genai.Part{FunctionCall: &genai.FunctionCall{Name: toolsearch.CallToolName, Args: map[string]any{"name": name, "arguments": args}}}
		}
		return &genai.Part{FunctionCall: &genai.FunctionCall{Name: name, Args: args}}
	}
	var parts []*genai.Part
	switch {
	case turn%4 == 3 || ran:
		parts = append(parts, genai.NewPartFromText(fmt.Sprintf("Done with %d. %s", turn, strings.Repeat("It went well. ", 20))))
	case !searched && turn%5 != 4 && slices.Contains(declared, toolsearch.SearchToolName):
		for _, query := range []string{"select:" + first, strings.ReplaceAll(second, "_", " ")} {
			parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: toolsearch.SearchToolName, Args: map[string]any{"query": query}}})
		}
	case turn%6 == 1:
		bad := &genai.Part{FunctionCall: &genai.FunctionCall{Name: toolsearch.CallToolName, Args: map[string]any{"name": "no_such_tool"}}}
		if !slices.Contains(declared, toolsearch.CallToolName) {
			bad = call(second)
		}
		parts = append(parts, call(first), bad)
	default:
		parts = append(parts, call(first), call(second))
	}
	return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: parts}, FinishReason: genai.FinishReasonStop}
}

// chat is an app with one agent.
type chat struct {
	tb      testing.TB
	service session.Service
	llm     model.LLM
	tools   []tool.Tool
	plugins []*plugin.Plugin
	change  func(*llmagent.Config)
	root    agent.Agent // nil for an agent with tools
}

// turn says something to the app, and returns the events of the turn.
func (c *chat) turn(n int) []*session.Event {
	c.tb.Helper()
	root := c.root
	if root == nil {
		cfg := llmagent.Config{Name: "bot", Model: c.llm, Instruction: "Help.", Tools: slices.Clip(c.tools)}
		if c.change != nil {
			c.change(&cfg)
		}
		root = must(llmagent.New(cfg))(c.tb)
	}
	r := must(adkrunner.New(adkrunner.Config{
		AppName: "app", Agent: root, SessionService: c.service, AutoCreateSession: true, PluginConfig: adkrunner.PluginConfig{Plugins: c.plugins},
	}))(c.tb)
	var events []*session.Event
	for ev, err := range r.Run(c.tb.Context(), "user", "session", genai.NewContentFromText(fmt.Sprintf("turn %d", n), genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			c.tb.Fatalf("turn %d: %v", n, err)
		}
		events = append(events, ev)
	}
	return events
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return value
	}
}

// sorted returns the keys and their counts, for messages.
func sorted(counts map[string]int) []string {
	var out []string
	for name, n := range counts {
		out = append(out, fmt.Sprintf("%s: %d", name, n))
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
