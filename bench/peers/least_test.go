package main

import (
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// A prompt over the window counts as avoidable only if it could have been shorter. Content that
// must stay raw is not this module's fault.
func TestOnlyAPromptThatCouldBeShorterIsAvoidable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("one two three four five six seven eight nine ten ", 100)
	window := tokens.Estimate(long) / 2
	call := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "1", Name: "look"}}}}
	response := func(said string) *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "look", Response: map[string]any{"result": said}}}}}
	}
	instructed := request(text("hi"))
	instructed.Config.SystemInstruction = text(long)
	for _, tt := range []struct {
		name      string
		said      string
		req       *model.LLMRequest
		avoidable int
	}{
		{name: "what was long ago", said: "hi", req: request(text(long), text("hi")), avoidable: 1},
		{name: "an old result", said: "hi", req: request(call, response(long), text("hi")), avoidable: 1},
		{name: "what the user just said", said: long, req: request(text(long))},
		{name: "what the user said in this turn", said: long, req: request(text(long), call, response("ok"))},
		{name: "the newest result", said: "hi", req: request(text("hi"), call, response(long))},
		{name: "the instructions", said: "hi", req: instructed},
	} {
		p := &planted{conversation: &conversation.Conversation{Turns: []conversation.Turn{{User: text(tt.said)}}}}
		w := newWatch(p, &oracle{}, window)
		w.request(0, 0, tt.req)
		if w.seen.over != 1 || w.seen.avoidable != tt.avoidable {
			t.Errorf("%s: %d over the window, %d avoidable; want 1 and %d", tt.name, w.seen.over, w.seen.avoidable, tt.avoidable)
		}
	}
}
