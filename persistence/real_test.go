package persistence_test

import (
	"fmt"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit/recorded"
	"github.com/adk-go-ext/longsession/persistence"
)

// Windows end at any event, even between a
// call and its answer.
func TestRealConversationsAreShownAlike(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	compared := 0
	for n, c := range recorded.Read(t, "*.jsonl") {
		k := newKeeper(t, s, fmt.Sprint(n))
		turn := 0
		for _, m := range c.Messages {
			inv := fmt.Sprint("inv", turn)
			switch m.Role {
			case "user":
				turn++
				k.raw.User(fmt.Sprint("inv", turn), m.Content)
			case "tool":
				k.raw.Response(inv, "bot", m.Name, m.Content, m.ToolCallID)
			case "assistant":
				k.raw.Agent(inv, "bot", m.Content)
				for _, call := range m.ToolCalls {
					last := k.raw.Last()
					last.Content.Parts = append(last.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: call.ID, Name: call.Function.Name}})
				}
			default:
				continue
			}
			k.raw.Last().ID = fmt.Sprint("e", k.session.Events().Len())
			k.say(1)
			if len(k.raw.Events) == 25 {
				k.compact(18)
				if !sameView(t, s, k.session.ID()) {
					t.Errorf("GetActive loaded the whole conversation %d", n)
				}
				compared++
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d views compared", compared)
	}
}
