package integration_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The budget layer finds the session, the agent and the branch of a request in this context.
func TestPinModelsAreCalledWithTheInvocationContext(t *testing.T) {
	t.Parallel()
	a := newApp(t, storages.InMemory(), mode{name: "pin"}, unchecked)
	llm := &pinned{name: "model", answer: func(ctx context.Context, _ int, _ *model.LLMRequest) *model.LLMResponse {
		ic, ok := ctx.(agent.InvocationContext)
		if !ok {
			t.Errorf("the model is called with a %T", ctx)
			return answer()
		}
		if !a.svc.Owns(ic.Session()) || ic.Agent().Name() != "assistant" || ic.RunConfig() == nil || ic.InvocationID() == "" || ic.Ended() {
			t.Errorf("session %T, agent %s, run config %v", ic.Session(), ic.Agent().Name(), ic.RunConfig())
		}
		if again := ic.WithContext(context.WithValue(ic, pinKey{}, 1)); again.Value(pinKey{}) != 1 || again.Session() != ic.Session() {
			t.Error("a value cannot be added to the context")
		}
		return answer()
	}}
	a.start(a.llm(newActor(a, "assistant", ""), func(cfg *llmagent.Config) { cfg.Model = llm }))
	if err := pinTurn(t, a.svc, a.root); err != nil || llm.calls != 1 {
		t.Errorf("%d calls, %v", llm.calls, err)
	}
}

type pinKey struct{}

// plainModel is a model without a variant and without a client.
type plainModel struct{ inner *pinned }

func (m plainModel) Name() string { return m.inner.Name() }

func (m plainModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return m.inner.GenerateContent(ctx, req, stream)
}

// A wrapper that hid the variant would send Gemini 2.5 a schema together with tools, which it refuses. A
// wrapper without an inner variant may have the method: BackendUnspecified is like no method.
func TestPinTheVariantOfAModelDecidesHowASchemaIsSent(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		variant  genai.Backend
		plain    bool
		asSchema bool
	}{
		{"Gemini API", genai.BackendGeminiAPI, false, false},
		{"Vertex AI", genai.BackendVertexAI, false, true},
		{"unspecified", genai.BackendUnspecified, false, adk.Major == 1},
		{"no variant", genai.BackendUnspecified, true, adk.Major == 1},
	} {
		a := bareApp(t, nil)
		inner := &pinned{name: "gemini-2.5-flash", variant: r.variant, answer: func(_ context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
			_, asTool := req.Tools["set_model_response"]
			if schema := req.Config.ResponseSchema != nil; schema != r.asSchema || asTool == r.asSchema {
				t.Errorf("%s: schema in the request %v, as a tool %v", r.name, schema, asTool)
			}
			return compactiontest.Say(`{"code":"1"}`)
		}}
		var llm model.LLM = inner
		if r.plain {
			llm = plainModel{inner}
		}
		a.startBare(a.llm(newActor(a, "assistant", ""), func(cfg *llmagent.Config) {
			cfg.Model, cfg.Tools = llm, []tool.Tool{a.lookup()}
			cfg.OutputSchema = &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"code": {Type: genai.TypeString}}}
		}))
		if err := pinTurn(t, a.inner, a.root); err != nil || inner.calls != 1 {
			t.Errorf("%s: %d calls, %v", r.name, inner.calls, err)
		}
	}
}

// Its mere presence counts, so a wrapper may have the method only if the inner model has it.
func TestPinALiveRunAsksTheModelForItsClient(t *testing.T) {
	t.Parallel()
	a := bareApp(t, nil)
	llm := plainModel{&pinned{name: "model"}}
	a.startBare(a.llm(newActor(a, "assistant", ""), func(cfg *llmagent.Config) { cfg.Model = llm }))
	_, _, err := a.runner.RunLive(t.Context(), ref.UserID, ref.SessionID, agent.LiveRunConfig{})
	if err == nil || !strings.Contains(err.Error(), "does not support live") {
		t.Errorf("%v", err)
	}
}
