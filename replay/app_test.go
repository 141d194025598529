package replay

import (
	"context"
	"testing"

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
