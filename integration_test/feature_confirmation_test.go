package integration_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// Several tools wait for a confirmation, requested in one turn or in several, by the root or a
// sub-agent. Some calls are approved and some rejected, in another order and with turns in between,
// and some are never decided.
func TestADecisionReachesItsCallWhateverElseIsPending(t *testing.T) {
	t.Parallel()
	type decision struct {
		which    int
		approved bool
	}
	for _, row := range []struct {
		name      string
		asked     []int // parallel calls, by turn
		decisions [][]decision
		sub       bool
	}{
		{name: "never decided", asked: []int{1}},
		{name: "three turns, the last one first", asked: []int{1, 1, 1}, decisions: [][]decision{{{2, true}}, {{0, false}}, {{1, true}}}},
		{name: "three turns, one of them never", asked: []int{1, 1, 1}, decisions: [][]decision{{{1, true}}, {{0, true}}}},
		{name: "two at once, in one message", asked: []int{2}, decisions: [][]decision{{{0, true}, {1, false}}}},
		{name: "two at once, in two messages", asked: []int{2}, decisions: [][]decision{{{1, true}}, {{0, false}}}},
		{name: "two at once and one more, by a sub-agent that handed back", asked: []int{2, 1}, decisions: [][]decision{{{2, false}}, {{1, true}}, {{0, true}}}, sub: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
				var ran runs
				a := newApp(t, store, m, withConfig(pressures[0].change), endingContexts)
				x := newActor(a, "assistant", "")
				tools := func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.danger(&ran, false)} }
				talker := x // the agent of the turns in between
				if row.sub {
					talker = newActor(a, "root", "")
					a.start(a.withSubAgents(talker, a.llm(x, tools)))
				} else {
					a.start(a.llm(x, tools))
				}
				handBack := func() {
					if row.sub {
						x.will(transfer("root"))
						a.chat(talker, 1)
					}
				}
				a.pass(talker, 3)
				var pending []question
				for _, n := range row.asked {
					if row.sub {
						talker.will(transfer("assistant"))
					}
					pending = append(pending, a.askToConfirm(x, n)...)
					handBack()
					a.pass(talker, 4)
				}
				a.pass(talker, 6)
				a.compactAll()
				var want []int
				for _, message := range row.decisions {
					msg := &genai.Content{Role: genai.RoleUser}
					for _, d := range message {
						q := pending[d.which]
						msg.Parts = append(msg.Parts, answerTo(q.call, map[string]any{"confirmed": d.approved}).Parts...)
						if d.approved {
							want = append(want, q.n)
						}
					}
					x.will(answer())
					a.ledger.nextTurn()
					a.question = ""
					a.send(msg)
					if !slices.Equal(ran.args, want) {
						t.Fatalf("the tool ran with %v, want %v", ran.args, want)
					}
					handBack()
					a.pass(talker, 5)
					a.compactAll()
				}
				a.pass(talker, 5)
				if !slices.Equal(ran.args, want) {
					t.Errorf("the tool ran with %v in the end, want %v", ran.args, want)
				}
				a.verify(4)
			})
		})
	}
}

// question is a call that waits for a person, and the argument of the tool to be confirmed.
type question struct {
	call *genai.FunctionCall
	n    int
}

// askToConfirm runs a turn in which the model makes n parallel calls of danger.
func (a *app) askToConfirm(x *actor, n int) []question {
	a.t.Helper()
	args := make([]map[string]any, n)
	for i := range args {
		args[i] = map[string]any{"n": a.ledger.number()}
	}
	x.will(compactiontest.CallTool("danger", args...))
	var out []question
	for _, ev := range a.ask() {
		for _, call := range requests.Calls(ev.Content) {
			if call.Name != toolconfirmation.FunctionCallName {
				continue
			}
			original, err := toolconfirmation.OriginalCallFrom(call)
			if err != nil {
				a.t.Fatal(err)
			}
			about, err := strconv.Atoi(fmt.Sprint(original.Args["n"]))
			if err != nil {
				a.t.Fatal(err)
			}
			out = append(out, question{call, about})
		}
	}
	if len(out) != n {
		a.t.Fatalf("%d confirmations are asked for, want %d", len(out), n)
	}
	return out
}

// The user approves, some turns pass, and the same approval arrives again. Its effect in ADK must
// not depend on what was summarized.
func TestADecisionTakenTwiceIsAsWithoutTheService(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		for _, between := range []int{0, 4, 12} {
			with := confirmedTwice(t, store.Anew(t), m, between)
			bare := confirmedTwice(t, store.Anew(t), mode{name: "bare"}, between)
			if !slices.Equal(with, bare) || len(bare) == 0 {
				t.Errorf("%d turns between: the tool ran with %v, without the service with %v", between, with, bare)
			}
		}
	})
}

func confirmedTwice(t *testing.T, store storages.Storage, m mode, between int) []int {
	t.Helper()
	var ran runs
	a := newApp(t, store, m, withConfig(pressures[0].change), endingContexts)
	x := newActor(a, "assistant", "")
	a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.danger(&ran, false)} }))
	if m.name == "bare" {
		a.useRunner(a.inner)
		a.unchecked = true // ADK alone shows a late answer without the turns in between
	}
	a.pass(x, 3)
	asked := a.askToConfirm(x, 1)[0]
	for range 2 {
		a.pass(x, between)
		x.will(answer())
		a.ledger.nextTurn()
		a.question = ""
		a.send(answerTo(asked.call, map[string]any{"confirmed": true}))
	}
	a.pass(x, 6)
	if m.name != "bare" {
		a.verify(2)
	}
	return ran.args
}
