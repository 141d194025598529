package toolsearch

// The names of the two tools that take the place of deferred declarations.
const (
	SearchToolName = "tool_search"
	CallToolName   = "tool_call"
)
