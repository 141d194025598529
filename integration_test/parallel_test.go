package integration_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// Two agents work in parallel, each with tools, turn after turn, and a third agent reads both
// afterwards. Every actor checks that it sees its own facts and none of a sibling's.
func TestParallelBranchesKeepTheirFactsAndDoNotLeak(t *testing.T) {
	t.Parallel()
	for _, tokens := range []bool{false, true} {
		name := map[bool]string{false: "by invocations", true: "by tokens"}[tokens]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modes := []mode{synchronous, flushed, background, reopened}
			if tokens {
				modes = modes[:2]
			}
			overStorages(t, modes, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
					if tokens {
						cfg.InvocationThreshold = compaction.Off
						smallWindow(cfg)
					}
				}), unordered)
				left, right := newActor(a, "left", "both.left"), newActor(a, "right", "both.right")
				writer := newActor(a, "writer", "")
				tools := func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }
				both, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{
					Name: "both", SubAgents: []agent.Agent{a.llm(left, tools), a.llm(right, tools)},
				}})
				if err != nil {
					t.Fatal(err)
				}
				root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{
					Name: "pipeline", SubAgents: []agent.Agent{both, a.llm(writer, nil)},
				}})
				if err != nil {
					t.Fatal(err)
				}
				a.start(root)
				for i := range m.turns(store, 20) {
					left.will(a.lookups(1+i%2), a.lookups(1), answer())
					right.will(a.lookups(1), answer())
					writer.will(answer())
					a.ask()
				}
				a.compactAll()
				for _, x := range []*actor{left, right, writer} {
					x.will(answer())
				}
				a.ask()
				a.verify(3)
				a.checkBranches("", "both.left", "both.right")
			})
		})
	}
}

// checkBranches checks that every branch has been summarized.
func (a *app) checkBranches(want ...string) {
	a.t.Helper()
	seen := map[string]int{}
	for _, m := range a.records() {
		seen[m.Branch]++
	}
	for _, branch := range want {
		if seen[branch] == 0 {
			a.t.Errorf("no event of branch %q was summarized: %v", branch, seen)
		}
	}
}
