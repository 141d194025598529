package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adk-go-ext/longsession/internal/catalog"
)

// serverVariable turns this test binary into an MCP server over stdio. Its value is the path of a file with
// a plan.
const serverVariable = "LONGSESSION_TEST_MCP_SERVER"

// plan says how a server behaves. It is read anew at each request, so a test can change it at any time, and
// a server that was started again obeys it, too.
type plan struct {
	// Start, List and Call say what happens at the start of the process, at a request for the list, and
	// at a call: "" is as usual, "hang" is no answer, "die" ends the process, "error" answers with an
	// error.
	Start, List, Call string
	// Size is how many tools of the catalog there are; 0 means all.
	Size int
	// Without names tools that are no longer there.
	Without []string
	// More are tools in the list besides those of the catalog, as they are sent, however odd.
	More []map[string]any
	// Reversed lists the tools in the opposite order.
	Reversed bool
	// Page is how many tools are in one page of the list; 0 means 1,000.
	Page int
}

// serve is the process of a server. It returns when its client has closed stdin.
func serve(file string) error {
	p, err := read(file)
	if err != nil {
		return err
	}
	switch p.Start {
	case "die":
		return errors.New("there is no database")
	case "hang":
		time.Sleep(time.Minute) // the client ends it; if the client is killed, it ends by itself
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "catalog", Version: "1"}, &mcp.ServerOptions{HasTools: true, PageSize: p.Page})
	for _, t := range catalog.Tools()[:sizeOf(p)] {
		server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema}, echo)
	}
	server.AddTool(&mcp.Tool{Name: "add_a_tool", Description: "Adds a tool to the server.", InputSchema: object()}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		server.AddTool(&mcp.Tool{Name: "added", Description: "Was not there before.", InputSchema: object()}, echo)
		return text("added"), nil
	})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			return behave(ctx, file, next, method, req)
		}
	})
	return server.Run(context.Background(), &mcp.StdioTransport{})
}

// behave answers a request as the plan says.
func behave(ctx context.Context, file string, next mcp.MethodHandler, method string, req mcp.Request) (mcp.Result, error) {
	p, err := read(file)
	if err != nil {
		return nil, err
	}
	how := map[string]string{"tools/list": p.List, "tools/call": p.Call}[method]
	switch how {
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "die":
		os.Exit(3)
	case "error":
		return nil, errors.New("out of order")
	}
	if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok {
		if slices.Contains(p.Without, call.Name) {
			return nil, fmt.Errorf("unknown tool %q", call.Name)
		}
		if slices.ContainsFunc(p.More, func(more map[string]any) bool { return more["name"] == call.Name }) {
			return text("ran " + call.Name), nil
		}
	}
	result, err := next(ctx, method, req)
	if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
		list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return slices.Contains(p.Without, t.Name) })
		if list.NextCursor == "" {
			for _, more := range p.More {
				list.Tools = append(list.Tools, toolOf(more))
			}
		}
		if p.Reversed {
			slices.Reverse(list.Tools)
		}
	}
	return result, err
}

// echo answers with the name and the arguments of the call.
func echo(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return text(fmt.Sprintf("ran %s with %s", req.Params.Name, req.Params.Arguments)), nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func object() map[string]any { return map[string]any{"type": "object"} }

func sizeOf(p plan) int {
	if p.Size > 0 {
		return p.Size
	}
	return len(catalog.Tools())
}

func toolOf(more map[string]any) *mcp.Tool {
	name, _ := more["name"].(string)
	description, _ := more["description"].(string)
	return &mcp.Tool{Name: name, Description: description, InputSchema: more["inputSchema"]}
}

func read(file string) (plan, error) {
	var p plan
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	return p, err
}
