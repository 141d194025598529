package integration_test

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// pinned is a model that shows a test each request as a provider gets it, with its config.
type pinned struct {
	name   string
	answer func(ctx context.Context, n int, req *model.LLMRequest) *model.LLMResponse
	calls  int
	// variant is the backend that ADK believes the model to run on.
	variant genai.Backend
}

func (m *pinned) Name() string { return m.name }

func (m *pinned) GetGoogleLLMVariant() genai.Backend { return m.variant }

func (m *pinned) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.calls++
		yield(m.answer(ctx, m.calls-1, req), nil)
	}
}

// pinTurn runs one turn of the agent over the service, which must have the session, and returns its error.
func pinTurn(t *testing.T, service session.Service, root agent.Agent, plugins ...*plugin.Plugin) error {
	t.Helper()
	r, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: root, SessionService: service, PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// pinAgent is an agent named "a" over the model. change may be nil.
func pinAgent(t *testing.T, llm model.LLM, change func(*llmagent.Config)) agent.Agent {
	t.Helper()
	cfg := llmagent.Config{Name: "a", Description: "An agent.", Model: llm}
	if change != nil {
		change(&cfg)
	}
	root, err := llmagent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// pinTool is a tool that returns its argument n and calls ran, which may be nil.
func pinTool(t *testing.T, name string, ran func()) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: name, Description: "Returns n."}, func(_ agent.ToolContext, args lookupArgs) (map[string]any, error) {
		if ran != nil {
			ran()
		}
		return map[string]any{"n": args.N}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Masking changes contents in place and relies on this.
func TestPinRequestsHoldDeepClonesOfStoredContents(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		for _, content := range req.Contents {
			content.Role = "spoiled"
			for _, part := range content.Parts {
				part.Text = "spoiled"
				if part.FunctionResponse != nil {
					part.FunctionResponse.Response["n"] = "spoiled"
				}
				if part.FunctionCall != nil {
					part.FunctionCall.Args["n"] = "spoiled"
				}
			}
		}
		if n == 0 {
			return compactiontest.CallTool("look", map[string]any{"n": 1})
		}
		return compactiontest.Say("Done.")
	}}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{pinTool(t, "look", nil)} })
	for range 2 {
		if err := pinTurn(t, service, root); err != nil {
			t.Fatal(err)
		}
	}
	if stored := canonical(eventsOf(getBare(t, service))); strings.Contains(stored, "spoiled") || !strings.Contains(stored, `"n":1`) {
		t.Errorf("a change of a request reached storage: %s", stored)
	}
}

// Results are paired with calls by position and name, never by ID alone.
func TestPinIDsThatADKMadeAreNotInRequests(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var calls, responses []string
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			resp := compactiontest.CallTool("look", map[string]any{"n": 1}, map[string]any{"n": 2})
			resp.Content.Parts[1].FunctionCall.ID = "of-the-provider"
			return resp
		}
		for _, content := range req.Contents {
			for _, call := range requests.Calls(content) {
				calls = append(calls, call.ID)
			}
			for _, response := range requests.Responses(content) {
				responses = append(responses, response.ID)
			}
		}
		return compactiontest.Say("Done.")
	}}
	if err := pinTurn(t, service, pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{pinTool(t, "look", nil)} })); err != nil {
		t.Fatal(err)
	}
	if want := []string{"", "of-the-provider"}; !slices.Equal(calls, want) || !slices.Equal(responses, want) {
		t.Errorf("the request has the call IDs %q and response IDs %q, want %q", calls, responses, want)
	}
	stored := requests.Calls(eventsOf(getBare(t, service))[1].Content)
	if len(stored) != 2 || !strings.HasPrefix(stored[0].ID, "adk-") {
		t.Errorf("stored calls: %s", canonical(stored))
	}
}

// read_result is declared by a layer and dispatched by req.Tools.
func TestPinACallOfAToolWithoutDeclarationRuns(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	ran, seen := 0, 0
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			if len(req.Config.Tools) > 0 {
				t.Errorf("the declarations are still there: %s", canonical(req.Config.Tools))
			}
			return compactiontest.CallTool("look", map[string]any{"n": 1})
		}
		return compactiontest.Say("Done.")
	}}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) {
		cfg.Tools = []tool.Tool{pinTool(t, "look", func() { ran++ })}
		cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
			req.Config.Tools = nil
			return nil, nil
		}}
		cfg.AfterToolCallbacks = []llmagent.AfterToolCallback{func(agent.ToolContext, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			seen++
			return nil, nil
		}}
	})
	if err := pinTurn(t, service, root); err != nil {
		t.Fatal(err)
	}
	if ran != 1 || seen != 1 {
		t.Errorf("the tool ran %d times, its callback %d times", ran, seen)
	}
}

// A layer that declares a tool must put it into every request, and for approvals the agent must own it.
func TestPinAToolPutIntoARequestIsKnownInThatStepOnly(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	ran := 0
	look := pinTool(t, "look", func() { ran++ })
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		switch n {
		case 0:
			req.Tools = map[string]any{"look": look}
			return compactiontest.CallTool("look", map[string]any{"n": 1})
		case 1:
			return compactiontest.CallTool("look", map[string]any{"n": 2})
		}
		return compactiontest.Say("Done.")
	}}
	if err := pinTurn(t, service, pinAgent(t, llm, nil)); err != nil {
		t.Fatal(err)
	}
	responses := requests.Responses(eventsOf(getBare(t, service))[4].Content)
	if ran != 1 || len(responses) != 1 || !strings.Contains(canonical(responses[0].Response), "not found") {
		t.Errorf("the tool ran %d times; the second call is answered with %s", ran, canonical(responses))
	}
}

// Texts with braces, such as instruction files, can only be put in by a provider or by a layer.
func TestPinOnlyAPlainInstructionIsATemplate(t *testing.T) {
	t.Parallel()
	const text = "Write {nothing} into it."
	for name, test := range map[string]struct {
		change func(*llmagent.Config)
		fails  bool
	}{
		"an instruction": {func(cfg *llmagent.Config) { cfg.Instruction = text }, true},
		"a provider": {func(cfg *llmagent.Config) {
			cfg.InstructionProvider = func(agent.ReadonlyContext) (string, error) { return text, nil }
		}, false},
	} {
		service := session.InMemoryService()
		createBare(t, service)
		var instruction string
		llm := &pinned{name: "m", answer: func(_ context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
			instruction = canonical(req.Config.SystemInstruction)
			return compactiontest.Say("Done.")
		}}
		err := pinTurn(t, service, pinAgent(t, llm, test.change))
		if failed := err != nil && strings.Contains(err.Error(), "does not exist"); failed != test.fails {
			t.Errorf("%s: the turn ended with %v, want an error %v", name, err, test.fails)
		}
		if !test.fails && !strings.Contains(instruction, text) {
			t.Errorf("%s: the instruction is %s", name, instruction)
		}
	}
}

// Compacting ahead relies on both: the contents are built from the view as it is behind the provider, and the
// provider's context has the invocation in an exported field.
func TestPinAnInstructionProviderRunsBeforeTheContents(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	provided := 0
	root := func(llm model.LLM) agent.Agent {
		return pinAgent(t, llm, func(cfg *llmagent.Config) {
			cfg.InstructionProvider = func(ctx agent.ReadonlyContext) (string, error) {
				provided++
				field := reflect.Indirect(reflect.ValueOf(ctx)).FieldByName("InvocationContext")
				ic, ok := field.Interface().(agent.InvocationContext)
				if !ok || ic.Agent().Name() != "a" || ic.RunConfig() == nil {
					t.Errorf("the provider's context is a %T with %v", ctx, field)
					return "Be brief.", nil
				}
				events := ic.Session().Events()
				events.At(events.Len() - 1).Content.Parts[0].Text = "changed by the provider"
				return "Be brief.", nil
			}
		})
	}
	llm := &pinned{name: "m", answer: func(_ context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
		if contents := canonical(req.Contents); !strings.Contains(contents, "changed by the provider") {
			t.Errorf("the contents were built before the provider ran: %s", contents)
		}
		return compactiontest.Say("Done.")
	}}
	if err := pinTurn(t, service, root(llm)); err != nil || provided != 1 {
		t.Errorf("the provider ran %d times, %v", provided, err)
	}
}

// The budget counts it as one component, and a prefix break in it names the agent.
func TestPinTheSystemInstructionIsOneTextPart(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var instruction *genai.Content
	llm := &pinned{name: "gemini-2.5-flash", variant: genai.BackendGeminiAPI, answer: func(_ context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
		instruction = req.Config.SystemInstruction
		return compactiontest.Say("Done.")
	}}
	sub, err := llmagent.New(llmagent.Config{Name: "sub", Description: "Helps.", Model: llm})
	if err != nil {
		t.Fatal(err)
	}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) {
		cfg.GlobalInstruction, cfg.Instruction, cfg.SubAgents = "Globally so.", "Locally so.", []agent.Agent{sub}
		cfg.OutputSchema, cfg.Tools = &genai.Schema{Type: genai.TypeObject}, []tool.Tool{pinTool(t, "look", nil)}
	})
	if err := pinTurn(t, service, root); err != nil {
		t.Fatal(err)
	}
	if instruction == nil || instruction.Role != genai.RoleUser || len(instruction.Parts) != 1 {
		t.Fatalf("the instruction is %s", canonical(instruction))
	}
	at := 0
	for _, want := range []string{"Globally so.", "Locally so.", "set_model_response", "transfer_to_agent"} {
		next := strings.Index(instruction.Parts[0].Text[at:], want)
		if next < 0 {
			t.Fatalf("%q is not behind the others in %q", want, instruction.Parts[0].Text)
		}
		at += next
	}
}

// Every break of a cached prefix in instruction or tools is therefore the app's or ours.
func TestPinTheConfigOfRequestsIsStable(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	configs := map[string]int{}
	llm := &pinned{name: "m", answer: func(_ context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
		configs[string(mustJSON(t, req.Config))]++
		return compactiontest.Say("Done.")
	}}
	var tools []tool.Tool
	for i := range 30 {
		tools = append(tools, pinTool(t, fmt.Sprint("look", i), nil))
	}
	var subs []agent.Agent
	for i := range 8 {
		sub, err := llmagent.New(llmagent.Config{Name: fmt.Sprint("sub", i), Description: "Helps.", Model: llm})
		if err != nil {
			t.Fatal(err)
		}
		subs = append(subs, sub)
	}
	root := pinAgent(t, llm, func(cfg *llmagent.Config) {
		cfg.Instruction, cfg.Tools, cfg.SubAgents = "Be brief.", tools, subs
	})
	for range 100 {
		if err := pinTurn(t, service, root); err != nil {
			t.Fatal(err)
		}
	}
	if len(configs) != 1 {
		t.Errorf("100 turns have %d different configs", len(configs))
	}
}
