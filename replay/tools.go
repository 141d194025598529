package replay

import (
	"fmt"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// recordedTool describes a tool of which the recording has calls and no declaration.
const recordedTool = "As recorded."

// recordedTools are tools that answer each call of c with its recorded response. A call finds its response
// by its ID, which is unique in the conversation. Tools that the recording declares come first, in its
// order.
func recordedTools(c *conversation.Conversation) ([]tool.Tool, error) {
	var tools []tool.Tool
	answers, known := recordedAnswers{}, map[string]bool{}
	for _, d := range c.Tools {
		known[d.Name] = true
		tools = append(tools, &declaredTool{d, answers})
	}
	for _, turn := range c.Turns {
		for _, step := range turn.Steps {
			for _, resp := range step.Responses {
				answers[resp.ID] = resp
				if known[resp.Name] {
					continue
				}
				known[resp.Name] = true
				made, err := functiontool.New(functiontool.Config{Name: resp.Name, Description: recordedTool}, answers.serve)
				if err != nil {
					return nil, fmt.Errorf("replay %s: tool %q: %w", c.ID, resp.Name, err)
				}
				tools = append(tools, made)
			}
		}
	}
	return tools, nil
}

// recordedAnswers are the responses of a recording, by the IDs of their calls.
type recordedAnswers map[string]*genai.FunctionResponse

func (a recordedAnswers) serve(ctx agent.ToolContext, _ map[string]any) (map[string]any, error) {
	resp, ok := a[ctx.FunctionCallID()]
	if !ok {
		return nil, fmt.Errorf("the recording has no result for call %s", ctx.FunctionCallID())
	}
	return adk.DeepCopy(resp.Response), nil
}

// declaredTool is a tool with the declaration of the recording. It has the methods that ADK looks for in a
// function tool. Unlike ADK's own, it does not hold arguments against the schema: the recorded call was
// made.
type declaredTool struct {
	declaration *genai.FunctionDeclaration
	answers     recordedAnswers
}

// Name implements tool.Tool.
func (t *declaredTool) Name() string { return t.declaration.Name }

// Description implements tool.Tool.
func (t *declaredTool) Description() string { return t.declaration.Description }

// IsLongRunning implements tool.Tool.
func (*declaredTool) IsLongRunning() bool { return false }

// Declaration returns the recorded declaration.
func (t *declaredTool) Declaration() *genai.FunctionDeclaration { return t.declaration }

// Category says that a tool is one of an MCP server if its name begins as those in transcripts of Claude Code
// do. Config.ToolSearch.Category of a policy's layers decides first.
func (t *declaredTool) Category() toolsearch.Category {
	if strings.HasPrefix(t.Name(), "mcp__") {
		return toolsearch.MCP
	}
	return toolsearch.BuiltIn
}

// ProcessRequest puts the tool into a request, as ADK's function tools do.
func (t *declaredTool) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	if req.Tools == nil {
		req.Tools = map[string]any{}
	}
	req.Tools[t.Name()] = t
	if req.Config == nil {
		req.Config = &genai.GenerateContentConfig{}
	}
	for _, declared := range req.Config.Tools {
		if declared != nil && declared.FunctionDeclarations != nil {
			declared.FunctionDeclarations = append(declared.FunctionDeclarations, t.declaration)
			return nil
		}
	}
	req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{t.declaration}})
	return nil
}

// Run answers a call with its recorded response.
func (t *declaredTool) Run(ctx agent.ToolContext, _ any) (map[string]any, error) {
	return t.answers.serve(ctx, nil)
}
