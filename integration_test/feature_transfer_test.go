package integration_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"
)

// The conversation moves between agents, within a turn and between turns. Every message must reach
// the current agent, whatever is summarized: the actor of any other agent fails the test.
func TestTransfersThereAndBackLoseNothing(t *testing.T) {
	t.Parallel()
	playAll(t, []feature{
		{name: "in turns of their own", branches: []string{""}, prepare: func(a *app) play {
			root, sub := newActor(a, "root", ""), newActor(a, "billing", "")
			return play{root: a.withSubAgents(root, a.withLookup(sub)), turn: func(i int) {
				switch i % 4 {
				case 0:
					root.will(transfer("billing"))
					sub.will(a.lookups(1), answer())
				case 1:
					sub.will(a.lookups(2), answer())
				case 2:
					sub.will(transfer("root"))
					root.will(answer())
				default:
					root.will(a.lookups(1), answer())
				}
				a.ask()
			}}
		}},
		{name: "within one turn", branches: []string{""}, prepare: func(a *app) play {
			root, sub := newActor(a, "root", ""), newActor(a, "billing", "")
			return play{root: a.withSubAgents(root, a.withLookup(sub)), turn: func(i int) {
				for range 1 + i%3 {
					root.will(a.lookups(1), transfer("billing"))
					sub.will(a.lookups(1), transfer("root"))
				}
				root.will(a.lookups(1), answer())
				a.ask()
			}}
		}},
		{name: "many times in one turn", branches: []string{""}, prepare: func(a *app) play {
			root, sub := newActor(a, "root", ""), newActor(a, "billing", "")
			return play{root: a.withSubAgents(root, a.withLookup(sub)), turn: func(i int) {
				if i%8 == 3 {
					for range 10 {
						root.will(a.lookups(1), transfer("billing"))
						sub.will(a.lookups(1), a.lookups(1), transfer("root"))
					}
				}
				root.will(answer())
				a.ask()
			}}
		}},
		{name: "through three levels", branches: []string{""}, prepare: func(a *app) play {
			root, sales, orders := newActor(a, "root", ""), newActor(a, "sales", ""), newActor(a, "orders", "")
			return play{root: a.withSubAgents(root, a.withSubAgents(sales, a.withLookup(orders))), turn: func(i int) {
				switch i % 3 {
				case 0:
					root.will(transfer("sales"))
					sales.will(a.lookups(1), transfer("orders"))
					orders.will(a.lookups(1), answer())
				case 1:
					orders.will(a.lookups(1), transfer("sales"))
					sales.will(a.lookups(1), answer())
				default:
					sales.will(transfer("root"))
					root.will(a.lookups(1), answer())
				}
				a.ask()
			}}
		}},
		{name: "between siblings", branches: []string{""}, prepare: func(a *app) play {
			root, sales, billing := newActor(a, "root", ""), newActor(a, "sales", ""), newActor(a, "billing", "")
			return play{root: a.withSubAgents(root, a.withLookup(sales), a.withLookup(billing)), turn: func(i int) {
				switch {
				case i == 0:
					root.will(transfer("sales"))
					sales.will(answer())
				case i%4 == 1:
					sales.will(a.lookups(1), transfer("billing"))
					billing.will(a.lookups(1), answer())
				case i%4 == 3:
					billing.will(transfer("sales"))
					sales.will(a.lookups(1), answer())
				case i%4 == 2:
					billing.will(a.lookups(1), answer())
				default:
					sales.will(answer())
				}
				a.ask()
			}}
		}},
		{name: "to an agent that sees the current turn only", branches: []string{""}, prepare: func(a *app) play {
			root, sub := newActor(a, "root", ""), newActor(a, "billing", "")
			forgetful := a.llm(sub, func(cfg *llmagent.Config) {
				cfg.Tools, cfg.IncludeContents = []tool.Tool{a.lookup()}, llmagent.IncludeContentsNone
			})
			return play{root: a.withSubAgents(root, forgetful), turn: func(i int) {
				switch sub.scope = currentTurn; i % 3 {
				case 0:
					sub.scope = ownTools
					root.will(a.lookups(1), transfer("billing"))
					sub.will(a.lookups(1), a.lookups(2), answer())
				case 1:
					sub.will(a.lookups(1), a.lookups(1), answer())
				default:
					sub.will(a.lookups(1), transfer("root"))
					root.will(answer())
				}
				a.ask()
			}}
		}},
		{name: "to a workflow", branches: []string{""}, prepare: func(a *app) play {
			root, one, two := newActor(a, "root", ""), newActor(a, "one", ""), newActor(a, "two", "")
			pipeline := a.sequence("pipeline", a.withLookup(one), a.withLookup(two))
			return play{root: a.withSubAgents(root, pipeline), turn: func(i int) {
				root.will(a.lookups(1))
				if i%2 == 0 {
					root.will(transfer("pipeline"))
					one.will(a.lookups(1), answer())
					two.will(a.lookups(1), answer())
				} else {
					root.will(answer())
				}
				a.ask() // the next message is for the root: ADK passes none to an agent in a workflow
			}}
		}},
	})
}

// withSubAgents returns an agent with a tool that can transfer to others.
func (a *app) withSubAgents(x *actor, agents ...agent.Agent) agent.Agent {
	return a.llm(x, func(cfg *llmagent.Config) { cfg.Tools, cfg.SubAgents = []tool.Tool{a.lookup()}, agents })
}
