package budget

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

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// benchContext is the context of an agent's model call.
type benchContext struct {
	agent.InvocationContext
	context.Context
	session session.Session
	agent   agent.Agent
}

func (c *benchContext) Session() session.Session  { return c.session }
func (c *benchContext) Agent() agent.Agent        { return c.agent }
func (*benchContext) Branch() string              { return "" }
func (*benchContext) InvocationID() string        { return "i" }
func (c *benchContext) Value(key any) any         { return c.Context.Value(key) }
func (c *benchContext) Err() error                { return c.Context.Err() }
func (c *benchContext) Done() <-chan struct{}     { return c.Context.Done() }
func (*benchContext) RunConfig() *agent.RunConfig { return &agent.RunConfig{} }
func (*benchContext) Ended() bool                 { return false }
func (c *benchContext) WithContext(ctx context.Context) agent.InvocationContext {
	again := *c
	again.Context = ctx
	return &again
}
func (c *benchContext) Deadline() (time.Time, bool) { return c.Context.Deadline() }

type instant struct{ resp *model.LLMResponse }

func (instant) Name() string { return "test-model" }
func (m instant) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(m.resp, nil) }
}

// BenchmarkWrapper sends a request of 200 contents of 4 KB and 100 tools that has one changed content, through
// the wrapper and to the model itself.
func BenchmarkWrapper(b *testing.B) {
	created, err := session.InMemoryService().Create(b.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "session"})
	if err != nil {
		b.Fatal(err)
	}
	ctx := &benchContext{Context: b.Context(), session: created.Session, agent: newAgent(b, llmagent.Config{Name: "agent"})}
	text := strings.Repeat("a line of a result with some words; ", 110)
	req := &model.LLMRequest{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{}}}}
	for i := range 200 {
		req.Contents = append(req.Contents, genai.NewContentFromFunctionResponse("find", map[string]any{"n": i, "output": text}, genai.RoleUser))
	}
	for i := range 100 {
		req.Config.Tools[0].FunctionDeclarations = append(req.Config.Tools[0].FunctionDeclarations, &genai.FunctionDeclaration{
			Name: fmt.Sprint("tool_", i), Description: text[:200], ParametersJsonSchema: &map[string]any{"type": "object", "n": i, "description": text[:800]},
		})
	}
	plain := instant{&model.LLMResponse{Content: genai.NewContentFromText("done", genai.RoleModel)}}
	m := newMeter(b, Config{ContextWindow: 1_000_000, Masker: must(toolresult.NewMasker(toolresult.Masking{}))})
	for name, llm := range map[string]model.LLM{"plain": plain, "wrapped": m.Model(plain)} {
		b.Run(name, func(b *testing.B) {
			last := req.Contents[199].Parts[0].FunctionResponse.Response
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				last["n"] = i
				for _, err := range llm.GenerateContent(ctx, req, false) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
