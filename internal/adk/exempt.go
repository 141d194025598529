package adk

import "slices"

// The tools whose results ADK itself reads, so that a shortened result would change what the app does. For
// example, the result of set_model_response becomes the final answer of the agent.
var exemptTools = []string{"set_model_response", "transfer_to_agent", "exit_loop", "task_completed"}

// IsExempt reports whether ADK itself reads the results of a tool. Layers never shorten such results and
// never write into them.
func IsExempt(tool string) bool { return IsRequest(tool) || slices.Contains(exemptTools, tool) }
