package integration_test

import (
	"slices"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The answer arrives immediately, after compactions, after a restart, repeatedly, never, or after
// the call was given up and summarized. The prompt contains the answer next to its call, and
// everything said in between.
func TestWhenALongRunningCallIsAnsweredDoesNotMatter(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		between []int // turns before each answer
		restart bool
	}{
		{"in the next turn", []int{0}, false},
		{"in the next turn, after a restart", []int{0}, true},
		{"after a restart", []int{10}, true},
		{"twice", []int{7, 7}, false},
		{"twice at once", []int{7, 0}, false},
		{"five times, with restarts", []int{3, 4, 5, 0, 6}, true},
		{"never", nil, false},
		{"when it had been given up", []int{56}, false},
		{"when it had been given up, twice, with restarts", []int{56, 6}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			run, modes := overStorages, []mode{synchronous, flushed}
			if len(row.between) != 2 {
				run = inMemoryIn
			}
			run(t, modes, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(pressures[0].change), endingContexts)
				x := newActor(a, "assistant", "")
				a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.order()} }))
				a.chat(x, 3)
				n := a.ledger.number()
				x.will(compactiontest.CallTool("order", map[string]any{"n": n}), answer())
				call := a.callNamed(a.ask(), "order")
				last := n
				for _, between := range row.between {
					a.pass(x, between)
					if row.restart {
						a.reopen()
					}
					x.will(answer())
					a.ledger.forget(compactiontest.Fact(last)) // the new answer replaces the previous one
					fact := a.late(call, n)
					if !slices.Contains(histories.FactsInContents(x.lastRequest()), fact) {
						t.Errorf("%s, the answer, is missing from the prompt", fact)
					}
					last = a.ledger.last
				}
				if len(row.between) == 0 {
					a.pass(x, 60)
				}
				a.chat(x, 7)
				a.compactAll()
				a.chat(x, 1)
				a.verify(4)
			})
		})
	}
}

// pass runs n turns, some of them with tools.
func (a *app) pass(x *actor, n int) {
	a.t.Helper()
	for i := range n {
		if i%3 == 0 {
			x.will(a.lookups(1 + i%2))
		}
		a.chat(x, 1)
	}
}

// A sub-agent's call is answered long after the conversation has returned to the root.
func TestALateAnswerReachesTheAgentThatCalled(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(pressures[0].change), endingContexts)
		root, sub := newActor(a, "root", ""), newActor(a, "shop", "")
		shop := a.llm(sub, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.order()} })
		a.start(a.llm(root, func(cfg *llmagent.Config) { cfg.Tools, cfg.SubAgents = []tool.Tool{a.lookup()}, []agent.Agent{shop} }))
		for range 3 {
			n := a.ledger.number()
			root.will(transfer("shop"))
			sub.will(compactiontest.CallTool("order", map[string]any{"n": n}), answer())
			call := a.callNamed(a.ask(), "order")
			sub.will(transfer("root"))
			root.will(answer())
			a.ask()
			a.pass(root, 5)
			a.compactAll()
			sub.will(a.lookups(1), answer())
			fact := a.late(call, n)
			if !slices.Contains(histories.FactsInContents(sub.lastRequest()), fact) {
				t.Errorf("%s, the answer, is missing from the prompt", fact)
			}
			a.ledger.forget(fact) // ADK shows it to no other agent
			sub.will(transfer("root"))
			root.will(answer())
			a.ask()
			a.pass(root, 2)
		}
		a.verify(6)
	})
}
