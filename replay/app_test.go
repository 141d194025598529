package replay

import (
	"context"
	"iter"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// appends records the context of every append.
type appends struct {
	session.Service
	contexts []context.Context
}

func (a *appends) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	a.contexts = append(a.contexts, ctx)
	return a.Service.AppendEvent(ctx, sess, ev)
}

// The service learns from the context that a turn ended unanswered. Otherwise it learns so only
// when the garbage collector runs, and repeated replays give different figures.
func TestAnInterruptedTurnEndsItsContext(t *testing.T) {
	t.Parallel()
	call := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "1", Name: "look"}}}}
	c := &conversation.Conversation{ID: "c", Turns: []conversation.Turn{
		{User: textContent("one", genai.RoleUser), Steps: []conversation.Step{{Answer: call, Responses: []*genai.FunctionResponse{{ID: "1", Name: "look", Response: map[string]any{"result": "x"}}}}}},
		{User: textContent("two", genai.RoleUser), Steps: []conversation.Step{{Answer: textContent("done", genai.RoleModel)}}},
	}}
	service, looked := &appends{Service: session.InMemoryService()}, false
	_, err := App{
		Service: service,
		Ref:     compaction.SessionRef{AppName: "a", UserID: "u", SessionID: "s"},
		Before: func(_ context.Context, turn, step int) error {
			if turn == 1 && step == 0 {
				looked = true
				if service.contexts[0].Err() == nil {
					t.Error("the interrupted turn still counts as running when the next one begins")
				}
			}
			return nil
		},
	}.Run(t.Context(), c)
	if err != nil || !looked {
		t.Fatal(err, looked)
	}
}

// shortening is a wrapper that sends the newest content alone.
type shortening struct{ model.LLM }

func (s shortening) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	req.Contents = req.Contents[len(req.Contents)-1:]
	return s.LLM.GenerateContent(ctx, req, stream)
}

func TestRequestsAreLookedAtBehindTheWrapperOfTheModel(t *testing.T) {
	t.Parallel()
	var turns []conversation.Turn
	for range 3 {
		turns = append(turns, conversation.Turn{User: textContent("hi", genai.RoleUser), Steps: []conversation.Step{{Answer: textContent("hello", genai.RoleModel)}}})
	}
	var sizes []int
	played, err := App{
		Service: session.InMemoryService(),
		Model:   func(llm model.LLM) model.LLM { return shortening{llm} },
		Ref:     compaction.SessionRef{AppName: "a", UserID: "u", SessionID: "s"},
		Request: func(_, _ int, req *model.LLMRequest) int {
			sizes = append(sizes, len(req.Contents))
			return 0
		},
	}.Run(t.Context(), &conversation.Conversation{ID: "c", Turns: turns})
	if err != nil || played != (Played{Calls: 3}) {
		t.Fatalf("%v, %+v", err, played)
	}
	for i, n := range sizes {
		if n != 1 {
			t.Errorf("request %d was seen with %d contents, before the wrapper", i, n)
		}
	}
}
