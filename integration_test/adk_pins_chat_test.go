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
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// chatModel is a model whose answers a test writes.
type chatModel func(req *model.LLMRequest) []*model.LLMResponse

func (chatModel) Name() string { return "gemini-2.5-flash" }

func (m chatModel) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for _, r := range m(req) {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// runBare runs an agent of ADK alone for one message, and returns the events.
func runBare(t *testing.T, sessions session.Service, llm model.LLM, message string, tools ...tool.Tool) (events []*session.Event) {
	t.Helper()
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: llm, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: "app", Agent: bot, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range r.Run(t.Context(), "ada", "talk", genai.NewContentFromText(message, genai.RoleUser), agent.RunConfig{StreamingMode: agent.StreamingModeSSE}) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

func storedBare(t *testing.T, sessions session.Service) session.Session {
	t.Helper()
	got, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "ada", SessionID: "talk"})
	if err != nil {
		t.Fatal(err)
	}
	return got.Session
}

// Of an answer that is cut off, storage therefore has nothing, and the chat stores what it has shown.
func TestPinPartsOfAStreamAreYieldedAndNotStored(t *testing.T) {
	t.Parallel()
	sessions := session.InMemoryService()
	parts := 0
	for _, ev := range runBare(t, sessions, chatModel(func(*model.LLMRequest) []*model.LLMResponse {
		first, second := compactiontest.Say("one "), compactiontest.Say("two")
		first.Partial, second.Partial = true, true
		return []*model.LLMResponse{first, second, compactiontest.Say("one two")}
	}), "Count.") {
		if ev.Partial {
			parts++
		}
	}
	if stored := storedBare(t, sessions).Events().Len(); parts != 2 || stored != 2 {
		t.Errorf("%d parts are yielded and %d events stored, want 2 parts, and the message and the answer", parts, stored)
	}
}

// The chat marks half an answer so, and the model must see it.
func TestPinAnInterruptedEventIsInPrompts(t *testing.T) {
	t.Parallel()
	sessions := session.InMemoryService()
	heard := ""
	llm := chatModel(func(req *model.LLMRequest) []*model.LLMResponse {
		heard = canonical(req.Contents)
		return []*model.LLMResponse{compactiontest.Say("Well.")}
	})
	runBare(t, sessions, llm, "Hello.")
	half := session.NewEventWithContext(t.Context(), "cut")
	half.Author, half.Interrupted, half.Content = "bot", true, genai.NewContentFromText("The first half", genai.RoleModel)
	if err := sessions.AppendEvent(t.Context(), storedBare(t, sessions), half); err != nil {
		t.Fatal(err)
	}
	if runBare(t, sessions, llm, "Go on."); !strings.Contains(heard, "The first half") {
		t.Errorf("the model hears %s", heard)
	}
}

// The chat must not say that such a tool has failed, and the default hint says nothing to people.
func TestPinACallThatAsksForConfirmationIsAnsweredWithAnError(t *testing.T) {
	t.Parallel()
	erase, err := functiontool.New(functiontool.Config{Name: "erase", Description: "It erases.", RequireConfirmation: true},
		func(agent.ToolContext, struct{}) (map[string]any, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	asks := 0
	for _, ev := range runBare(t, session.InMemoryService(), chatModel(func(*model.LLMRequest) []*model.LLMResponse {
		return []*model.LLMResponse{compactiontest.CallTool("erase", nil)}
	}), "Do it.", erase) {
		for _, part := range ev.Content.Parts {
			if part.FunctionResponse == nil {
				continue
			}
			ask, found := ev.Actions.RequestedToolConfirmations[part.FunctionResponse.ID]
			if part.FunctionResponse.Response["error"] == nil || !found || !strings.HasPrefix(ask.Hint, "Please approve or reject the tool call ") {
				t.Errorf("the response is %v, with the request %+v", part.FunctionResponse.Response, ask)
			}
			asks++
		}
	}
	if asks != 1 {
		t.Errorf("%d responses, want 1", asks)
	}
}
