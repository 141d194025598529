package subtask

import (
	"fmt"
	"runtime/debug"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
)

// runnable is a tool that ADK can call. ADK does not export the interface.
type runnable interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	Run(ctx agent.ToolContext, args any) (map[string]any, error)
}

// caught is a tool of a subtask that may panic. ADK runs tools in goroutines of its own and recovers only in
// those of functiontool, so a panic of another tool would end the process.
type caught struct{ runnable }

// catch returns the tools, each protected against its own panic. The app's values run as they are.
func catch(tools []tool.Tool) []tool.Tool {
	out := make([]tool.Tool, len(tools))
	for i, t := range tools {
		out[i] = t
		if inner, ok := t.(runnable); ok {
			out[i] = &caught{inner}
		}
	}
	return out
}

// Run runs the tool.
func (t *caught) Run(ctx agent.ToolContext, args any) (result map[string]any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			result, err = nil, fmt.Errorf("panic in tool %q: %v\n%s", t.Name(), cause, debug.Stack())
		}
	}()
	return t.runnable.Run(ctx, args)
}

// ProcessRequest has the tool declare itself, and takes its place among those that are called.
func (t *caught) ProcessRequest(ctx agent.ToolContext, req *model.LLMRequest) error {
	processor, ok := t.runnable.(interface {
		ProcessRequest(ctx agent.ToolContext, req *model.LLMRequest) error
	})
	if !ok {
		return fmt.Errorf("tool %q does not implement ProcessRequest, so ADK cannot declare it", t.Name())
	}
	if err := processor.ProcessRequest(ctx, req); err != nil {
		return err
	}
	if _, declared := req.Tools[t.Name()]; declared {
		req.Tools[t.Name()] = t
	}
	return nil
}
