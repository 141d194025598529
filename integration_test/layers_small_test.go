package integration_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
)

// Agents that read whole results in a small window ask for more at once than the window has room for. The newest
// answer of read_result is never masked, and another agent sees it as text.
func TestReadingResultsDoesNotOverflowASmallWindow(t *testing.T) {
	t.Parallel()
	newToolApp(t, inMemory(t), func(a *toolApp) agent.Agent {
		both := a.made(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{a.agent("one", nil), a.agent("two", nil)}}}))
		return a.made(loopagent.New(loopagent.Config{MaxIterations: 2, AgentConfig: agent.Config{Name: "again", SubAgents: []agent.Agent{both}}}))
	}, func(a *toolApp) { a.window, a.loose = 8_000, true }).play(8)
}
