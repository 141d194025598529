package main

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// inventedSteps is the number of calls in each of the two turns of the invented session.
const inventedSteps = 60

// invented returns a session of an agent that reads one file after the other.
func invented() *conversation.Conversation {
	c := &conversation.Conversation{ID: "invented", Instruction: "You read source code."}
	for turn := range 2 {
		t := conversation.Turn{User: genai.NewContentFromText(fmt.Sprintf("Read part %d.", turn), genai.RoleUser)}
		for step := range inventedSteps {
			n := turn*inventedSteps + step
			id := fmt.Sprintf("call-%d", n)
			t.Steps = append(t.Steps, conversation.Step{
				Answer: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{
					FunctionCall: &genai.FunctionCall{ID: id, Name: "read", Args: map[string]any{"path": fmt.Sprintf("file%d.go", n)}},
				}}},
				Responses: []*genai.FunctionResponse{{ID: id, Name: "read", Response: map[string]any{
					"output": fmt.Sprintf("package file%d\n", n) + strings.Repeat("func visit(node *tree) error { return nil }\n", 10+n*7%60),
				}}},
			})
		}
		t.Steps = append(t.Steps, conversation.Step{Answer: genai.NewContentFromText("I have read them all.", genai.RoleModel)})
		c.Turns = append(c.Turns, t)
	}
	return c
}
