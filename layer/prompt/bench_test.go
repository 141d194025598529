package prompt

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
)

// benchContext is the context of an agent's model call.
type benchContext struct {
	agent.InvocationContext
	ctx     context.Context
	session session.Session
	agent   agent.Agent
}

func (c *benchContext) Session() session.Session    { return c.session }
func (c *benchContext) Agent() agent.Agent          { return c.agent }
func (*benchContext) Artifacts() agent.Artifacts    { return nil }
func (*benchContext) Branch() string                { return "" }
func (*benchContext) InvocationID() string          { return "i" }
func (c *benchContext) Value(key any) any           { return c.ctx.Value(key) }
func (c *benchContext) Err() error                  { return c.ctx.Err() }
func (c *benchContext) Done() <-chan struct{}       { return c.ctx.Done() }
func (c *benchContext) Deadline() (time.Time, bool) { return c.ctx.Deadline() }
func (c *benchContext) WithContext(ctx context.Context) agent.InvocationContext {
	again := *c
	again.ctx = ctx
	return &again
}

type instant struct{ resp *model.LLMResponse }

func (instant) Name() string { return "test-model" }
func (m instant) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(m.resp, nil) }
}

// BenchmarkRequest sends a request with a base of 8 KB and sections of 32, 8 and 4 KB, in which nothing has
// changed: to the model itself, through the wrapper, and through plugin and wrapper.
func BenchmarkRequest(b *testing.B) {
	created, err := session.InMemoryService().Create(b.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "session"})
	if err != nil {
		b.Fatal(err)
	}
	plain := instant{&model.LLMResponse{Content: genai.NewContentFromText("done", genai.RoleModel)}}
	made, err := llmagent.New(llmagent.Config{Name: "agent", Model: plain})
	if err != nil {
		b.Fatal(err)
	}
	ctx := &benchContext{ctx: b.Context(), session: created.Session, agent: made}
	text := func(kb int) string {
		return fmt.Sprintf("%d KB of text\n\n", kb) + strings.Repeat("0123456789abcd\n\n", 64*kb)
	}
	source := func(kb int) Source {
		return SourceFunc(func(context.Context) (string, error) { return text(kb), nil })
	}
	builder, err := New(Config{Project: source(32), Memories: source(8), Skills: source(4)})
	if err != nil {
		b.Fatal(err)
	}
	none, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	wrapped := builder.Model(plain)
	base := []byte(text(8))
	for _, way := range []struct {
		name   string
		llm    model.LLM
		plugin bool
	}{{"model", plain, false}, {"no sections", none.Model(plain), false}, {"wrapper", wrapped, false}, {"plugin and wrapper", wrapped, true}} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				// As in ADK, each request has an instruction of its own.
				req := &model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(string(base), genai.RoleUser)}}
				if way.plugin {
					_, _ = builder.beforeModel(agent.NewCallbackContextWithArtifactTracking(ctx, nil), req)
				}
				for _, err := range way.llm.GenerateContent(ctx, req, false) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
