package integration_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/summarizer"
)

// callContext is the context of an agent's model call.
type callContext struct {
	agent.InvocationContext
	context.Context
	session session.Session
	agent   agent.Agent
}

func (c *callContext) Session() session.Session    { return c.session }
func (c *callContext) Agent() agent.Agent          { return c.agent }
func (*callContext) Branch() string                { return "" }
func (*callContext) InvocationID() string          { return "i" }
func (c *callContext) Value(key any) any           { return c.Context.Value(key) }
func (c *callContext) Err() error                  { return c.Context.Err() }
func (c *callContext) Done() <-chan struct{}       { return c.Context.Done() }
func (c *callContext) Deadline() (time.Time, bool) { return c.Context.Deadline() }
func (*callContext) RunConfig() *agent.RunConfig   { return &agent.RunConfig{} }
func (*callContext) Ended() bool                   { return false }
func (*callContext) UserContent() *genai.Content   { return nil }
func (c *callContext) WithContext(ctx context.Context) agent.InvocationContext {
	again := *c
	again.Context = ctx
	return &again
}

// instantModel answers at once.
type instantModel struct{ resp *model.LLMResponse }

func (instantModel) Name() string { return "test-model" }
func (m instantModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(m.resp, nil) }
}

// BenchmarkLayers sends a request of 200 contents of 4 KB and 100 tools, with one changed content, through the
// whole chain of layers.
func BenchmarkLayers(b *testing.B) {
	text := strings.Repeat("a line of a result with some words; ", 110)
	for name, disable := range map[string][]longsession.Layer{
		"without prompt and tool search":      {longsession.LayerPrompt, longsession.LayerToolSearch},
		"every layer, 100 tools deferred":     nil,
		"every layer, nothing to be deferred": nil,
	} {
		b.Run(name, func(b *testing.B) {
			cfg := longsession.Config{Disable: disable, Prompt: prompt.Config{Project: prompt.Text(text[:2000]), Memories: prompt.Text("Ada likes tea.")}}
			cfg.Compaction.Summarizer, cfg.Compaction.ContextWindow = summarizer.Extractive{}, 1_000_000
			cfg.ToolSearch.Threshold = 0.001
			if strings.Contains(name, "nothing") {
				cfg.ToolSearch.Threshold = 1
			}
			cfg.ToolSearch.Observer = func(context.Context, toolsearch.Observation) {}
			stack, err := longsession.New(session.InMemoryService(), cfg)
			if err != nil {
				b.Fatal(err)
			}
			defer stack.Close(context.Background())
			created, err := stack.Sessions.Create(b.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "session"})
			if err != nil {
				b.Fatal(err)
			}
			made, err := llmagent.New(llmagent.Config{Name: "agent"})
			if err != nil {
				b.Fatal(err)
			}
			ctx := &callContext{Context: b.Context(), session: created.Session, agent: made}
			llm := stack.Model(instantModel{&model.LLMResponse{Content: genai.NewContentFromText("done", genai.RoleModel)}})
			var a toolApp
			var contents []*genai.Content
			for i := range 200 {
				contents = append(contents, genai.NewContentFromFunctionResponse("find", map[string]any{"n": i, "output": text}, genai.RoleUser))
			}
			tools, declarations := map[string]any{}, []*genai.FunctionDeclaration{}
			for _, t := range a.catalogTools(100) {
				tools[t.Name()] = t
				declarations = append(declarations, t.(*catalogTool).declaration)
			}
			last := contents[199].Parts[0].FunctionResponse.Response
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				last["n"] = fmt.Sprint(i)
				req := &model.LLMRequest{Contents: contents, Tools: make(map[string]any, 102), Config: &genai.GenerateContentConfig{
					SystemInstruction: genai.NewContentFromText("You work.", genai.RoleUser), Tools: []*genai.Tool{{FunctionDeclarations: declarations}}}}
				for name, t := range tools {
					req.Tools[name] = t
				}
				for _, err := range llm.GenerateContent(ctx, req, false) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
