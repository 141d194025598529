package integration_test

import (
	"slices"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// rounds returns the number of tool calls in one turn. It is lower over a database, where rounds
// are slow.
func (a *app) rounds() int {
	if a.store.Name == "database" {
		return 32
	}
	return 60
}

// smallWindow makes a turn of sixty tool rounds cross the threshold many times.
func smallWindow(cfg *compaction.Config) {
	cfg.ContextWindow, cfg.MaxOutputTokens = 3000, compaction.Off
	cfg.TokenThreshold = 1200
}

// One question leads to sixty rounds, and the prompt crosses the threshold repeatedly. The last
// request must have all sixty results.
func TestSixtyToolRoundsInOneTurnLoseNothing(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name    string
		scope   scope
		noUsage bool
	}{
		{"all history", everything, false},
		{"no usage reported", everything, true},
		{"current turn only", currentTurn, false},
		{"current turn only, no usage reported", currentTurn, true},
	} {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			run := overStorages
			if variant.noUsage {
				run = inMemoryIn // token counts are the same on every backend
			}
			run(t, []mode{synchronous, flushed, background}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(smallWindow))
				x := newActor(a, "assistant", "")
				x.scope, x.noUsage = variant.scope, variant.noUsage
				a.start(a.llm(x, func(cfg *llmagent.Config) {
					cfg.Tools = []tool.Tool{a.lookup()}
					if variant.scope == currentTurn {
						cfg.IncludeContents = llmagent.IncludeContentsNone
					}
				}))
				a.chat(x, 3)
				a.loop(x)
				a.checkLoop(x)
				a.verify(1)
				if m != background && len(a.log.of(compaction.Stored)) < a.rounds()/15 {
					t.Errorf("the threshold was crossed %d times, want many times:\n%s", len(a.log.of(compaction.Stored)), a.log)
				}
				a.chat(x, 8)
				a.verify(2)
			})
		})
	}
}

// chat runs n plain turns of one agent.
func (a *app) chat(x *actor, n int) {
	a.t.Helper()
	for range n {
		x.will(answer())
		a.ask()
	}
}

// loop runs one turn in which the agent repeatedly calls its tool.
func (a *app) loop(x *actor) {
	a.t.Helper()
	for range a.rounds() {
		x.will(a.lookups(1))
	}
	x.will(answer())
	a.ask()
}

// checkLoop checks that the newest request of x has the results of all rounds of the turn.
func (a *app) checkLoop(x *actor) {
	a.t.Helper()
	seen := histories.FactsInContents(x.lastRequest())
	own := a.ledger.where(func(f told, turn int) bool { return f.turn == turn && f.teller == x.name })
	if len(own) != a.rounds() {
		a.t.Errorf("the tools of %s ran %d times, want %d", x.name, len(own), a.rounds())
	}
	for _, fact := range own {
		if !slices.Contains(seen, fact) {
			a.t.Errorf("the last request of %s lacks %s", x.name, fact)
		}
	}
}

// The root transfers to a sub-agent, which makes the rounds in the same turn.
func TestSixtyToolRoundsAfterATransferLoseNothing(t *testing.T) {
	t.Parallel()
	for _, include := range []llmagent.IncludeContents{llmagent.IncludeContentsDefault, llmagent.IncludeContentsNone} {
		t.Run("include "+string(include), func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(smallWindow))
				root, sub := newActor(a, "root", ""), newActor(a, "worker", "")
				if include == llmagent.IncludeContentsNone {
					sub.scope = ownTools
				}
				worker := a.llm(sub, func(cfg *llmagent.Config) {
					cfg.Tools, cfg.IncludeContents = []tool.Tool{a.lookup()}, include
				})
				a.start(a.llm(root, func(cfg *llmagent.Config) {
					cfg.Tools, cfg.SubAgents = []tool.Tool{a.lookup()}, []agent.Agent{worker}
				}))
				a.chat(root, 3)
				root.will(a.lookups(2), a.lookups(1), transfer("worker"))
				a.loop(sub)
				a.checkLoop(sub)
				a.verify(a.rounds() / 15)
				a.chat(sub, 8)
				a.verify(3)
			})
		})
	}
}

// In a sequence, the second agent starts where the first one ended, in the same turn.
func TestToolRoundsOfAWorkflowLoseNothing(t *testing.T) {
	t.Parallel()
	for _, include := range []llmagent.IncludeContents{llmagent.IncludeContentsDefault, llmagent.IncludeContentsNone} {
		t.Run("include "+string(include), func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(smallWindow))
				first, second := newActor(a, "researcher", ""), newActor(a, "writer", "")
				if include == llmagent.IncludeContentsNone {
					first.scope, second.scope = currentTurn, ownTools
				}
				change := func(cfg *llmagent.Config) { cfg.Tools, cfg.IncludeContents = []tool.Tool{a.lookup()}, include }
				root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{
					Name: "pipeline", SubAgents: []agent.Agent{a.llm(first, change), a.llm(second, change)},
				}})
				if err != nil {
					t.Fatal(err)
				}
				a.start(root)
				for range a.rounds() {
					first.will(a.lookups(1))
				}
				first.will(answer())
				a.loop(second)
				a.checkLoop(first)
				a.checkLoop(second)
				for range 8 {
					first.will(answer())
					a.chat(second, 1)
				}
				a.verify(a.rounds() / 8)
			})
		})
	}
}

// Later turns, with another service over the same storage, still have the results of a long turn.
func TestAToolLoopSurvivesARestart(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(smallWindow))
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		a.loop(x)
		a.reopen()
		a.chat(x, 1)
		a.reopen()
		a.loop(x)
		a.reopen()
		a.chat(x, 8)
		a.verify(a.rounds() / 8)
	})
}
