package replay

import (
	"fmt"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// recordedTool describes a tool of the recording.
const recordedTool = "As recorded."

// recordedTools are function tools that answer each call of c with its recorded response. A call
// finds its response by its ID, which is unique in the conversation.
func recordedTools(c *conversation.Conversation) ([]tool.Tool, error) {
	responses := map[string]*genai.FunctionResponse{}
	serve := func(ctx agent.ToolContext, _ map[string]any) (map[string]any, error) {
		resp, ok := responses[ctx.FunctionCallID()]
		if !ok {
			return nil, fmt.Errorf("the recording has no result for call %s", ctx.FunctionCallID())
		}
		return adk.DeepCopy(resp.Response), nil
	}
	var tools []tool.Tool
	known := map[string]bool{}
	for _, turn := range c.Turns {
		for _, step := range turn.Steps {
			for _, resp := range step.Responses {
				responses[resp.ID] = resp
				if known[resp.Name] {
					continue
				}
				known[resp.Name] = true
				made, err := functiontool.New(functiontool.Config{Name: resp.Name, Description: recordedTool}, serve)
				if err != nil {
					return nil, fmt.Errorf("replay %s: tool %q: %w", c.ID, resp.Name, err)
				}
				tools = append(tools, made)
			}
		}
	}
	return tools, nil
}
