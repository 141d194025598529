// Package toolsearch keeps the declarations of many tools out of a prompt. The model finds a tool when
// it needs one, and calls it in the next step.
//
// An agent with three MCP servers may declare 200 tools, and pays for all of their schemas in every request.
// Over [Config].Threshold, the package takes declarations away and offers two tools in their place:
// tool_search, which finds tools and returns their schemas, and tool_call, which calls one of them. The tools
// themselves stay with the agent, so callbacks, confirmations and stored events are as without this
// package. A call of a deferred tool by its own name runs, too.
//
// Tools have categories. Those of MCP servers are deferred first, then those of skills. Within a category,
// all tools without a known use go first. While the rest is still over the threshold, the tool whose last use is
// longest ago goes next. Tools of the app itself are never deferred.
//
// The set of deferred tools depends on nothing but the request and the session: equal requests get equal
// bytes, in every process and after a restart. It changes only where the cached prefix of the prompt breaks
// in any case: with a new summary, and when the list of tools changes.
//
// A request whose declarations are below the threshold is left exactly as it is.
package toolsearch
