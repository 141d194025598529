package integration_test

// What only ADK v1 does. On v2 a run that answers a call carries on the invocation of the call, fails if the call is hidden
// or belongs to a branch that another agent does not see, runs a confirmed tool once, ends with its context, and does not
// run an agent whose callback has failed.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// This includes the run that delivers an answer to an earlier run.
func TestPinEveryRunHasAnInvocationOfItsOwn(t *testing.T) {
	t.Parallel()
	a := bareApp(t, nil)
	x := newActor(a, "assistant", "")
	a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.order()} }))
	x.will(compactiontest.CallTool("order", map[string]any{"n": 1}), answer())
	first := a.ask()
	x.will(answer())
	second := a.send(answerTo(a.callNamed(first, "order"), map[string]any{"n": 1}))
	if first[0].InvocationID == second[0].InvocationID {
		t.Error("the answer runs in the invocation of its call")
	}
}

// If the call is hidden, ADK drops the response.
func TestPinAHiddenCallLosesItsLateResponse(t *testing.T) {
	t.Parallel()
	a := bareApp(t, nil)
	x := newActor(a, "assistant", "")
	a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.order()} }))
	n := a.ledger.number()
	x.will(compactiontest.CallTool("order", map[string]any{"n": n}), answer())
	call := a.callNamed(a.ask(), "order")
	a.useRunner(hiding{a.inner, func(ev *session.Event) bool { return len(requests.Calls(ev.Content)) > 0 }})
	x.will(answer())
	fact := a.late(call, n)
	if slices.Contains(histories.FactsInContents(x.lastRequest()), fact) {
		t.Error("the response is in the prompt")
	}
}

// Before every call of a model, ADK runs each tool that the newest event of the user confirms and that has no response
// behind that event.
func TestPinAConfirmedToolWithoutAVisibleResponseRunsAgain(t *testing.T) {
	t.Parallel()
	for hidden, want := range map[bool]int{false: 1, true: 3} {
		l := storedBy(t, asksToRefund("root")...)
		root := l.agent("root", llmagent.Config{}, compactiontest.CallTool("lookup", map[string]any{"n": 1}), compactiontest.CallTool("lookup", map[string]any{"n": 2}))
		hides := func(ev *session.Event) bool {
			return hidden && ev.InvocationID != "i1" && ev.Content != nil && slices.ContainsFunc(ev.Content.Parts, func(p *genai.Part) bool {
				return p.FunctionResponse != nil && p.FunctionResponse.ID == "x"
			})
		}
		if err := l.send(hiding{l.service, hides}, root, approval()); err != nil {
			t.Fatal(err)
		}
		if l.ran != want {
			t.Errorf("the response is hidden: %t. The tool ran %d times, want %d", hidden, l.ran, want)
		}
	}
}

// A deadline alone is therefore no limit: the clock is read before each call.
func TestPinADeadlineStopsNoRunWhoseToolsIgnoreIt(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	ctx, cancel := context.WithCancel(t.Context())
	llm := &tireless{name: "m", says: func(_ string, own int, _ *model.LLMRequest) *model.LLMResponse {
		if own == 6 {
			return compactiontest.Say("Done.")
		}
		return nil
	}}
	root := llmAgent(t, "worker", llm, nil, pinTool(t, "look", cancel))
	p := guardedTurn(t, ctx, runnerOf(t, service, root), ref, agent.RunConfig{}, 0)
	if p.err() != nil || llm.count() != 7 || ctx.Err() == nil {
		t.Errorf("%d model calls, and the run ends with %v", llm.count(), p.err())
	}
}

// A run that goes on after the error calls the model.
func TestPinAnErrorOfBeforeAgentDoesNotKeepTheAgentFromRunning(t *testing.T) {
	t.Parallel()
	llm := scripted()
	r := runnerOf(t, session.InMemoryService(), pinAgent(t, llm, nil), hooked(t, plugin.Config{Name: "refuses", BeforeAgentCallback: func(agent.CallbackContext) (*genai.Content, error) {
		return nil, &stopped{1}
	}}))
	p := guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 3)
	var typed *stopped
	if !errors.As(p.err(), &typed) || llm.calls != 1 {
		t.Errorf("the run ends with %v after %d model calls, want the error and 1", p.err(), llm.calls)
	}
}

// The call was made in a branch. ADK runs its agent for the answer outside of all branches. The
// branches then continue as before.
func TestALateAnswerToAParallelBranchKeepsBranchesApart(t *testing.T) {
	t.Parallel()
	for _, between := range []int{0, 3, 12} {
		t.Run(fmt.Sprintf("%d turns later", between), func(t *testing.T) {
			t.Parallel()
			inMemoryIn(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, unordered)
				left, right := newActor(a, "left", "both.left"), newActor(a, "right", "both.right")
				tools := func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.order()} }
				root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{
					Name: "both", SubAgents: []agent.Agent{a.llm(left, tools), a.llm(right, tools)},
				}})
				if err != nil {
					t.Fatal(err)
				}
				a.start(root)
				turns := func(n int) {
					for range n {
						left.will(a.lookups(1), answer())
						right.will(a.lookups(1), answer())
						a.ask()
					}
				}
				turns(4)
				n := a.ledger.number()
				left.will(compactiontest.CallTool("order", map[string]any{"n": n}), answer())
				right.will(answer())
				call := a.callNamed(a.ask(), "order")
				turns(between)
				left.branch = ""
				left.will(a.lookups(1), answer())
				fact := a.late(call, n)
				a.ledger.forget(fact) // ADK shows it to no branch that does not see the call
				left.branch = "both.left"
				turns(12)
				a.compactAll()
				turns(2)
				if !slices.Contains(histories.FactsInContents(left.lastRequest()), fact) {
					t.Errorf("%s, the late answer, is missing", fact)
				}
				a.verify(4)
			})
		})
	}
}
