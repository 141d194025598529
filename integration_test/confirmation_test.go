package integration_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// runs records the arguments with which a tool ran.
type runs struct {
	mu   sync.Mutex
	args []int
}

func (r *runs) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.args = append(r.args, n)
}

// danger is a tool that needs a confirmation, either by its config or because it asks for one.
func (a *app) danger(ran *runs, byItself bool) tool.Tool {
	cfg := functiontool.Config{Name: "danger", Description: "Deletes an item.", RequireConfirmation: !byItself}
	return a.tool(cfg, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
		if byItself && ctx.ToolConfirmation() == nil {
			if err := ctx.RequestConfirmation("really?", nil); err != nil {
				return lookupResult{}, err
			}
			ctx.Actions().SkipSummarization = true
			return lookupResult{}, errors.New("waits for a confirmation")
		}
		ran.add(args.N)
		fact := compactiontest.Fact(args.N)
		a.ledger.tell(fact, ctx.Branch(), ctx.AgentName())
		return lookupResult{args.N, fact, "deleted"}, nil
	})
}

// Many turns and compactions lie between the request for confirmation and the user's decision.
func TestAConfirmedToolRunsOnceWithItsArguments(t *testing.T) {
	t.Parallel()
	for _, approved := range []bool{true, false} {
		for _, byItself := range []bool{true, false} {
			t.Run(fmt.Sprintf("approved %t, asked by itself %t", approved, byItself), func(t *testing.T) {
				t.Parallel()
				run := overStorages
				if byItself {
					run = inMemoryIn // storage makes no difference here
				}
				run(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
					var ran runs
					a := newApp(t, store, m)
					x := newActor(a, "assistant", "")
					a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.danger(&ran, byItself)} }))
					a.chat(x, 3)
					n := a.ledger.number()
					x.will(compactiontest.CallTool("danger", map[string]any{"n": n}))
					asked := a.callNamed(a.ask(), toolconfirmation.FunctionCallName)
					for range m.turns(store, 15) {
						x.will(a.lookups(1))
						a.chat(x, 1)
					}
					a.compactAll()
					if len(ran.args) > 0 {
						t.Fatal("the tool ran before it was confirmed")
					}

					x.will(answer())
					a.ledger.nextTurn()
					a.question = ""
					a.send(answerTo(asked, map[string]any{"confirmed": approved}))
					want := []int(nil)
					if approved {
						want = []int{n}
					}
					if !slices.Equal(ran.args, want) {
						t.Errorf("the tool ran with %v, want %v", ran.args, want)
					}
					a.checkOutcome(x, approved)
					a.chat(x, 12)
					a.compactAll()
					a.chat(x, 1)
					if !slices.Equal(ran.args, want) {
						t.Errorf("the tool ran again: %v, want %v", ran.args, want)
					}
					a.verify(4)
				})
			})
		}
	}
}

// checkOutcome checks that the newest request of x contains the outcome of the confirmed call.
func (a *app) checkOutcome(x *actor, approved bool) {
	a.t.Helper()
	text := canonical(x.lastRequest())
	if !approved && !strings.Contains(text, "rejected") {
		a.t.Errorf("the request does not show the rejection: %s", text)
	}
	if approved && !strings.Contains(text, "deleted") {
		a.t.Errorf("the request does not show the tool's result: %s", text)
	}
}
