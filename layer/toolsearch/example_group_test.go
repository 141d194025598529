package toolsearch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// A server that goes down keeps its tools, and the app hears of it once.
func ExampleNewGroup() {
	down := false
	var reports []string
	server := toolset(func(agent.ReadonlyContext) ([]tool.Tool, error) {
		if down {
			return nil, errors.New("connection refused")
		}
		return listed("create_issue", "list_issues")
	})
	group, err := toolsearch.NewGroup(toolsearch.GroupConfig{
		Category: toolsearch.MCP,
		Toolset:  server,
		Observer: func(_ context.Context, o toolsearch.Observation) {
			reports = append(reports, fmt.Sprintf("%s: %v, %d tools are left", o.Kind, o.Err, o.Tools))
		},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := run{Context: context.Background()} // ADK's, in an app
	for _, down = range []bool{false, true, true} {
		tools, _ := group.Tools(ctx)
		fmt.Println(len(tools), "tools")
	}
	_ = group.Flush(ctx) // the observer is called a little later
	fmt.Println(strings.Join(reports, "\n"))
	// Output:
	// 2 tools
	// 2 tools
	// 2 tools
	// toolset failed: connection refused, 2 tools are left
}
