package integration_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// ADK chooses the agent for a message by the newest agent event. After a transfer this must remain
// the sub-agent's, whatever is summarized.
func TestMessagesReachTheSubAgentAfterCompactions(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, background, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		root, sub := newActor(a, "root", ""), newActor(a, "billing", "")
		billing := a.llm(sub, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} })
		a.start(a.llm(root, func(cfg *llmagent.Config) { cfg.SubAgents = []agent.Agent{billing} }))
		a.chat(root, 2)
		root.will(transfer("billing"))
		a.chat(sub, 1)
		for range m.turns(store, 20) {
			sub.will(a.lookups(1))
			a.chat(sub, 1) // the root's actor would fail the test
		}
		a.compactAll()
		a.chat(sub, 1)
		sub.will(transfer("root"))
		a.chat(root, 8)
		a.compactAll()
		a.chat(root, 1)
		a.verify(3)
	})
}

// compactAll manually summarizes as much as possible.
func (a *app) compactAll() {
	a.t.Helper()
	if _, err := a.svc.Compact(a.t.Context(), ref, compaction.CompactOptions{KeepRecent: 1}); err != nil {
		a.t.Fatalf("Compact: %v", err)
	}
}
