// Package mcp_test runs ADK's MCP toolset over a real server: a process of this test binary that speaks MCP
// over stdio, with the 200 tools of the catalog. Tests have it change its list, hang, die and list
// nonsense, before a turn and in the middle of one.
package mcp_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// Every goroutine ends with its test, so no process of a server is left behind either: the connection to
// each has a goroutine.
func TestMain(m *testing.M) {
	if file := os.Getenv(serverVariable); file != "" {
		if err := serve(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testkit.Quiet()
	goleak.VerifyTestMain(m)
}
