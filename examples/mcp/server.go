package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adk-go-ext/longsession/internal/catalog"
)

// serve is an MCP server over stdio with 200 tools, until its client closes stdin.
func serve(ctx context.Context) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "catalog", Version: "1"}, nil)
	for _, t := range catalog.Tools() {
		server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema}, answer)
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}

// answer is the result of every tool: some 150 tokens.
func answer(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: done with %s\n", req.Params.Name, req.Params.Arguments)
	for i := range 8 {
		fmt.Fprintf(&out, "entry %d: state open, owner team-%d, updated on day %d, no error reported\n", i+1, i%3, 11+i)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out.String()}}}, nil
}

// command is a transport that starts a process for each connection: ADK connects again when a server has
// died, and an exec.Cmd can be started only once.
type command struct {
	path string
	args []string

	mu    sync.Mutex
	conns []mcp.Connection
}

var _ mcp.Transport = (*command)(nil)

// itself is the server of this program.
func itself() (*command, error) {
	path, err := os.Executable()
	return &command{path: path, args: []string{"serve"}}, err
}

// Connect starts a process.
func (c *command) Connect(ctx context.Context) (mcp.Connection, error) {
	cmd := exec.Command(c.path, c.args...)
	cmd.Stderr = os.Stderr
	conn, err := (&mcp.CommandTransport{Command: cmd}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	return conn, nil
}

// close ends the processes. ADK's toolset has no method for it.
func (c *command) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
