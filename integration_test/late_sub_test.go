package integration_test

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// A sub-agent's long-running call and its request for confirmation are answered more than fifty
// turns later. ADK finds the agent by the call, so the call must stay visible.
func TestAnAnswerReachesItsSubAgentHoweverLate(t *testing.T) {
	t.Parallel()
	for _, confirms := range []bool{false, true} {
		t.Run(fmt.Sprintf("confirmation %t", confirms), func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{flushed, background}, func(t *testing.T, store storages.Storage, m mode) {
				var ran runs
				a := newApp(t, store, m, withConfig(pressures[0].change), endingContexts)
				root, sub := newActor(a, "root", ""), newActor(a, "shop", "")
				shop := a.llm(sub, func(cfg *llmagent.Config) {
					cfg.Tools = []tool.Tool{a.lookup(), a.order(), a.danger(&ran, false)}
				})
				a.start(a.withSubAgents(root, shop))
				a.pass(root, 3)
				root.will(transfer("shop"))
				var asked question
				var call *genai.FunctionCall
				n := a.ledger.number()
				if confirms {
					asked = a.askToConfirm(sub, 1)[0]
				} else {
					sub.will(compactiontest.CallTool("order", map[string]any{"n": n}), answer())
					call = a.callNamed(a.ask(), "order")
				}
				sub.will(transfer("root"))
				root.will(answer())
				a.ask()
				a.pass(root, 56)
				a.compactAll()
				sub.will(answer())
				if confirms {
					a.ledger.nextTurn()
					a.question = ""
					a.send(answerTo(asked.call, map[string]any{"confirmed": true}))
					if !slices.Equal(ran.args, []int{asked.n}) {
						t.Errorf("the tool ran with %v, want %d", ran.args, asked.n)
					}
				} else if fact := a.late(call, n); !slices.Contains(histories.FactsInContents(sub.lastRequest()), fact) {
					t.Errorf("%s, the answer, is missing from the prompt", fact)
				}
			})
		})
	}
}
