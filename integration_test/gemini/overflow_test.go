package gemini_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
)

// refusal is the answer of the Gemini API to a prompt that is too long.
var refusal = refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).")

var bothModes = []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE}

// The wrapper sends a refused request once more, which it must not do once something was yielded.
func TestPinOverflowIsAnErrorBeforeTheFirstResponse(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := newServer(t)
		s.will(assistant, refusal)
		n := 0
		for resp, err := range s.client(assistant).GenerateContent(t.Context(), &model.LLMRequest{
			Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)},
		}, stream) {
			n++
			var value genai.APIError
			if resp != nil || !errors.As(err, &value) || value.Code != 400 || !budget.IsOverflow(err) {
				t.Errorf("stream %v: %v, %v", stream, resp, err)
			}
			var pointer *genai.APIError
			if errors.As(err, &pointer) {
				t.Error("the error is a pointer now: see statusOf")
			}
		}
		if n != 1 {
			t.Errorf("stream %v: %d yields", stream, n)
		}
	}
}

// metered is an app whose agent's model is wrapped.
func metered(t *testing.T, mode agent.StreamingMode) (*app, *budget.Meter) {
	t.Helper()
	a := newApp(t, func(cfg *compaction.Config) {
		cfg.InvocationThreshold, cfg.TokenThreshold = compaction.Off, compaction.Off
	})
	a.mode = mode
	var meter *budget.Meter
	// The meter needs the service, and the service is created with the agent.
	late := &lateModel{name: assistant}
	root, err := llmagent.New(llmagent.Config{
		Name: "assistant", Instruction: "Answer in one sentence.", Model: late, Tools: []tool.Tool{a.lookup(), a.order()},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.start(root)
	meter, err = budget.New(budget.Config{Compactor: a.svc})
	if err != nil {
		t.Fatal(err)
	}
	root, err = llmagent.New(llmagent.Config{
		Name: "assistant", Instruction: "Answer in one sentence.", Model: meter.Model(a.client(assistant)), Tools: []tool.Tool{a.lookup(), a.order()},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.runner, err = runner.New(runner.Config{
		AppName: ref.AppName, Agent: root, SessionService: a.svc, PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{meter.Plugin()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, meter
}

// lateModel is never called.
type lateModel struct {
	model.LLM
	name string
}

func (m *lateModel) Name() string { return m.name }

func TestAnOverflowOfGeminiIsCompactedAndSentOnceMore(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		a, _ := metered(t, mode)
		a.chat(8)
		before := len(a.received(false))
		a.will(assistant, refusal, answer())
		a.ask()
		requests := a.received(false)[before:]
		if len(requests) != 2 || len(requests[1].body) > len(requests[0].body)*19/20 {
			t.Fatalf("%s: %d requests", mode, len(requests))
		}
		if len(a.received(true)) == 0 {
			t.Errorf("%s: no summary was written", mode)
		}
	}
}

func TestAnOverflowThatGeminiInsistsOnEndsTheTurn(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		a, _ := metered(t, mode)
		a.chat(8)
		before := len(a.received(false))
		a.will(assistant, refusal, refusal)
		_, err := a.try()
		var overflow *budget.OverflowError
		var api genai.APIError
		if !errors.As(err, &overflow) || !errors.Is(err, budget.ErrContextOverflow) || !errors.As(err, &api) || api.Code != 400 {
			t.Errorf("%s: %v", mode, err)
		}
		if n := len(a.received(false)) - before; n != 2 {
			t.Errorf("%s: %d requests", mode, n)
		}
		a.chat(1) // the session goes on
	}
}

func TestOtherErrorsOfGeminiPassUnchanged(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		for _, r := range []reply{
			refuse(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "You exceeded your current quota: generate_content_free_tier_input_token_count. Please retry in 33s."),
			refuse(http.StatusRequestEntityTooLarge, "INVALID_ARGUMENT", "input token count"),
			refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
		} {
			a, _ := metered(t, mode)
			a.chat(3)
			before := len(a.received(false))
			a.will(assistant, r)
			_, err := a.try()
			var api genai.APIError
			if !errors.As(err, &api) || api.Code != r.status || errors.Is(err, budget.ErrContextOverflow) {
				t.Errorf("%s %d: %v", mode, r.status, err)
			}
			if n := len(a.received(false)) - before; n != 1 {
				t.Errorf("%s %d: %d requests", mode, r.status, n)
			}
		}
	}
}

// Gemini ends a turn in this way when the model calls a tool that was not declared.
func TestAnUnexpectedToolCallPassesUnchanged(t *testing.T) {
	t.Parallel()
	a, _ := metered(t, agent.StreamingModeNone)
	a.will(assistant, reply{finish: "UNEXPECTED_TOOL_CALL"})
	events, err := a.try()
	if err != nil || len(events) != 1 || events[0].ErrorCode != "UNEXPECTED_TOOL_CALL" || len(a.received(false)) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// The usage of a stream is cumulative.
func TestTheUsageOfAStreamOfGeminiCountsOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		a, meter := metered(t, mode)
		a.chat(1)
		counted := a.received(false)[0].tokens
		if got, want := meter.Tracker(ref).Report(), fmt.Sprintf("Input: %d,", counted); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
	}
}

// realModels are the real services, for engineers who have access to them.
var realModels = []struct {
	name, env string
	config    func(value string) *genai.ClientConfig
}{
	{"Gemini", "LONGSESSION_GEMINI_KEY", func(key string) *genai.ClientConfig {
		return &genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI}
	}},
	{"Vertex AI", "LONGSESSION_VERTEX_PROJECT", func(project string) *genai.ClientConfig {
		return &genai.ClientConfig{Project: project, Location: "us-central1", Backend: genai.BackendVertexAI}
	}},
}

// TestRealServicesRefuseAPromptAsRecognized sends a prompt of 1.2 million words, more than the window of
// 1,048,576 tokens. The meter must recognize the refusal, and send a smaller prompt, which is answered.
func TestRealServicesRefuseAPromptAsRecognized(t *testing.T) {
	for _, r := range realModels {
		t.Run(r.name, func(t *testing.T) {
			value := os.Getenv(r.env)
			if value == "" {
				t.Skipf("%s is not set: the real %s is not called", r.env, r.name)
			}
			llm, err := gemini.NewModel(t.Context(), assistant, r.config(value))
			if err != nil {
				t.Fatal(err)
			}
			meter, err := budget.New(budget.Config{ContextWindow: 10_000_000}) // so that the service decides
			if err != nil {
				t.Fatal(err)
			}
			req := &model.LLMRequest{Model: assistant, Contents: []*genai.Content{genai.NewContentFromText("Say hello.", genai.RoleUser)}}
			for i := range 12 {
				req.Contents = append(req.Contents,
					&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{Name: "read", Args: map[string]any{"n": i}}}}},
					&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: "read", Response: map[string]any{"output": strings.Repeat("word ", 100_000)}}}}})
			}
			answered := false
			for resp, err := range meter.Model(llm).GenerateContent(t.Context(), req, false) {
				if err != nil {
					t.Fatal(err)
				}
				answered = resp.Content != nil
			}
			if !answered || len(req.Contents) > 24 {
				t.Errorf("answered %v, %d contents were sent", answered, len(req.Contents))
			}
		})
	}
}
