package integration_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// bareApp returns an application without the compaction service. decorate may be nil.
func bareApp(t *testing.T, decorate func(session.Service) session.Service) *app {
	t.Helper()
	a := newApp(t, storages.InMemory(), mode{name: "bare"}, unchecked)
	if decorate != nil {
		a.inner = decorate(a.inner)
	}
	return a
}

func (a *app) startBare(root agent.Agent) *app {
	a.t.Helper()
	a.start(root)
	a.useRunner(a.inner)
	return a
}

// The service learns from this context which turn is running.
func TestPinTheRunnerAppendsWithItsInvocationContext(t *testing.T) {
	t.Parallel()
	appends := 0
	a := bareApp(t, func(s session.Service) session.Service {
		return appending{Service: s, before: func(ctx context.Context, _ session.Service, _ session.Session, ev *session.Event) {
			appends++
			invocation, ok := ctx.(agent.InvocationContext)
			if !ok {
				t.Errorf("event of %s is appended with a %T", ev.Author, ctx)
				return
			}
			if invocation.InvocationID() != ev.InvocationID {
				t.Errorf("event of invocation %s is appended in invocation %s", ev.InvocationID, invocation.InvocationID())
			}
		}}
	})
	x := newActor(a, "assistant", "")
	a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
	x.will(a.lookups(1), answer())
	a.ask()
	if appends != 4 {
		t.Errorf("%d appends, want the question, the call, the response and the answer", appends)
	}
}

// If the newest event is a response, ADK drops every event between it and its call that is not a
// tool event. The view therefore shows no summary there.
func TestPinALateResponseDeletesTheTurnsBetween(t *testing.T) {
	t.Parallel()
	a := bareApp(t, nil)
	x := newActor(a, "assistant", "")
	a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.order()} }))
	x.will(compactiontest.CallTool("order", map[string]any{"n": a.ledger.number()}), answer())
	call := a.callNamed(a.ask(), "order")
	a.chat(x, 1)
	between := a.question
	x.will(answer())
	a.late(call, 1)
	if strings.Contains(canonical(x.lastRequest()), between) {
		t.Error("the turn between call and late response is in the prompt")
	}
}

// ADK cuts everything before that event, so the summary of an agent's tool rounds must come after
// it.
func TestPinIncludeContentsNoneStartsAtTheLastUserOrForeignEvent(t *testing.T) {
	t.Parallel()
	a := bareApp(t, nil)
	root, sub := newActor(a, "root", ""), newActor(a, "worker", "")
	worker := a.llm(sub, func(cfg *llmagent.Config) {
		cfg.IncludeContents, cfg.Tools = llmagent.IncludeContentsNone, []tool.Tool{a.lookup()}
	})
	a.startBare(a.llm(root, func(cfg *llmagent.Config) { cfg.SubAgents = []agent.Agent{worker} }))
	root.will(transfer("worker"))
	sub.will(a.lookups(1), answer())
	a.ask()
	afterTransfer := canonical(sub.lastRequest())
	if strings.Contains(afterTransfer, a.question) || !strings.Contains(afterTransfer, "transfer_to_agent") {
		t.Errorf("after a transfer the prompt does not start at the foreign event: %s", afterTransfer)
	}
	earlier := a.question
	sub.will(a.lookups(1))
	a.chat(sub, 1)
	if text := canonical(sub.lastRequest()); strings.Contains(text, earlier) || !strings.Contains(text, a.question) {
		t.Errorf("the prompt does not start at the user's message: %s", text)
	}
}

// A record is such an event: it is in no prompt and does not affect which agent answers next.
func TestPinAnEventWithoutContentIsIgnored(t *testing.T) {
	t.Parallel()
	var want int
	for _, decorate := range []func(session.Service) session.Service{nil, func(s session.Service) session.Service {
		return appending{Service: s, after: func(ctx context.Context, s session.Service, sess session.Session, ev *session.Event) {
			record := &session.Event{ID: "record-of-" + ev.ID, InvocationID: "none", Author: "user", Timestamp: ev.Timestamp, LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{"k": "v"}}}
			if err := s.AppendEvent(ctx, sess, record); err != nil {
				t.Error(err)
			}
		}}
	}} {
		a := bareApp(t, decorate)
		root, sub := newActor(a, "root", ""), newActor(a, "worker", "")
		worker := a.llm(sub, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} })
		a.startBare(a.llm(root, func(cfg *llmagent.Config) { cfg.SubAgents = []agent.Agent{worker} }))
		root.will(transfer("worker"))
		a.chat(sub, 1)
		sub.will(a.lookups(2))
		a.chat(sub, 1)
		if n := len(sub.lastRequest()); want == 0 {
			want = n
		} else if n != want {
			t.Errorf("the prompt has %d contents, without such events %d", n, want)
		}
	}
}

// If all agent events were hidden, a message would go to the root instead of the agent that is
// talking to the user.
func TestPinTheNewestAgentEventDecidesWhoAnswers(t *testing.T) {
	t.Parallel()
	a := bareApp(t, nil)
	root, sub := newActor(a, "root", ""), newActor(a, "worker", "")
	worker := a.llm(sub, nil)
	a.startBare(a.llm(root, func(cfg *llmagent.Config) { cfg.SubAgents = []agent.Agent{worker} }))
	root.will(transfer("worker"))
	a.chat(sub, 2)
	a.useRunner(hiding{a.inner, func(ev *session.Event) bool { return ev.Author != "user" }})
	a.chat(root, 1)
}

// summaryAfterUser appends a text by the author "user" after every message of the user, as a naive
// compaction would.
func summaryAfterUser(s session.Service) session.Service {
	return appending{Service: s, after: func(ctx context.Context, s session.Service, sess session.Session, ev *session.Event) {
		if ev.Author != "user" {
			return
		}
		if err := s.AppendEvent(ctx, sess, said("summary-"+ev.ID, "user", "Summary of what was said.", ev.Timestamp)); err != nil {
			panic(err)
		}
	}}
}

// A summary by the user after the user's message replaces the question for an agent that sees only
// the current turn, and an approved tool never runs.
func TestPinAUserAuthoredSummaryIsTakenForTheMessage(t *testing.T) {
	t.Parallel()
	t.Run("the question is cut", func(t *testing.T) {
		t.Parallel()
		a := bareApp(t, summaryAfterUser)
		x := newActor(a, "assistant", "")
		a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.IncludeContents = llmagent.IncludeContentsNone }))
		a.chat(x, 1)
		if strings.Contains(canonical(x.lastRequest()), a.question) {
			t.Error("the question is in the prompt")
		}
	})
	t.Run("the approval is lost", func(t *testing.T) {
		t.Parallel()
		var ran runs
		a := bareApp(t, summaryAfterUser)
		x := newActor(a, "assistant", "")
		a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.danger(&ran, false)} }))
		x.will(compactiontest.CallTool("danger", map[string]any{"n": 1}))
		asked := a.callNamed(a.ask(), toolconfirmation.FunctionCallName)
		x.will(answer())
		a.send(answerTo(asked, map[string]any{"confirmed": true}))
		if len(ran.args) > 0 {
			t.Error("the tool ran")
		}
	})
}
