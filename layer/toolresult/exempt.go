package toolresult

import (
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// The tools whose results ADK itself reads, so that a shortened result would change what the app does. For
// example, the result of set_model_response becomes the final answer of the agent.
var exemptTools = []string{"set_model_response", "transfer_to_agent", "exit_loop", "task_completed"}

// exempt reports whether results of a tool are never shortened: it is one of ADK's own, or in more.
func exempt(tool string, more []string) bool {
	return adk.IsRequest(tool) || slices.Contains(exemptTools, tool) || slices.Contains(more, tool)
}

// IsExempt reports whether ADK itself reads the results of a tool. Layers never shorten such results and
// never write into them.
func IsExempt(tool string) bool { return exempt(tool, nil) }
