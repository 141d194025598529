package integration_test

import (
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// order is a long-running tool that immediately returns that it has begun, with its own fact.
func (a *app) order() tool.Tool {
	return a.tool(functiontool.Config{Name: "order", Description: "Orders an item.", IsLongRunning: true}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
		fact := compactiontest.Fact(args.N)
		a.ledger.tell(fact, ctx.Branch(), ctx.AgentName())
		return lookupResult{args.N, fact, "pending"}, nil
	})
}

// callNamed returns the newest call of a tool in events.
func (a *app) callNamed(events []*session.Event, name string) *genai.FunctionCall {
	a.t.Helper()
	for _, ev := range slices.Backward(events) {
		for _, call := range requests.Calls(ev.Content) {
			if call.Name == name {
				return call
			}
		}
	}
	a.t.Fatalf("no call of %s", name)
	return nil
}

// The real answer arrives twenty turns later. The call must still be visible, and so must the summaries of what was
// said in between: ADK drops every event between a call and its answer that is not a tool event, and shows it again in
// the next turn.
func TestALateAnswerOfALongRunningToolKeepsItsCallAndTheSummariesBetween(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, background, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.order()} }))
		a.chat(x, 3)
		n := a.ledger.number()
		x.will(compactiontest.CallTool("order", map[string]any{"n": n}), answer())
		call := a.callNamed(a.ask(), "order")
		for i := range m.turns(store, 20) {
			if i%3 == 0 {
				x.will(a.lookups(2))
			}
			a.chat(x, 1)
		}
		a.compactAll()

		x.will(answer())
		fact := a.late(call, n)
		if !slices.Contains(histories.FactsInContents(x.lastRequest()), fact) {
			t.Error("the answer is missing from the prompt")
		}
		a.chat(x, 12)
		a.compactAll()
		a.chat(x, 1)
		a.verify(5)
	})
}

// After the late answer, the model calls more tools in the same turn.
func TestALateAnswerMayStartMoreTools(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(smallWindow))
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.order()} }))
		n := a.ledger.number()
		x.will(compactiontest.CallTool("order", map[string]any{"n": n}), answer())
		call := a.callNamed(a.ask(), "order")
		a.chat(x, 12)
		for range a.rounds() / 2 {
			x.will(a.lookups(1))
		}
		x.will(answer())
		a.late(call, n)
		a.chat(x, 12)
		a.verify(4)
	})
}

// Three calls wait, two of them made in parallel, and their answers arrive in another order with
// turns in between.
func TestSeveralLongRunningCallsAreAnsweredInAnyOrder(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.order()} }))
		one, two, three := a.ledger.number(), a.ledger.number(), a.ledger.number()
		x.will(compactiontest.CallTool("order", map[string]any{"n": one}, map[string]any{"n": two}), answer())
		pair := a.ask()
		a.chat(x, 7)
		x.will(compactiontest.CallTool("order", map[string]any{"n": three}), answer())
		single := a.callNamed(a.ask(), "order")
		a.chat(x, 7)
		both := requests.Calls(pair[0].Content)

		x.will(answer())
		a.late(both[1], two)
		a.chat(x, 7)
		x.will(answer())
		a.late(single, three)
		a.chat(x, 7)
		x.will(answer())
		a.late(both[0], one)
		a.chat(x, 12)
		a.compactAll()
		a.chat(x, 1)
		a.verify(5)
	})
}

// late sends the real answer to a call of order, with a new fact, and returns the fact. In a prompt
// the answer replaces the tool's first response, whose fact may then be missing.
func (a *app) late(call *genai.FunctionCall, n int) string {
	a.t.Helper()
	fact := compactiontest.Fact(a.ledger.number())
	a.ledger.nextTurn()
	a.ledger.forget(compactiontest.Fact(n))
	a.ledger.tell(fact, "", "user")
	a.question = ""
	a.send(answerTo(call, map[string]any{"n": n, "fact": fact, "status": "delivered"}))
	return fact
}
