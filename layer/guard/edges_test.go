package guard_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/layer/guard"
)

func TestALoopOfAnAgentWithoutToolsEnds(t *testing.T) {
	t.Parallel()
	for _, style := range []guard.StopStyle{guard.AsError, guard.AsEvent} {
		llm := newWorker()
		llm.answer = func(int, *model.LLMRequest) *genai.Content { return said("again") }
		d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 3}, OnStop: style}, llm)
		plain := made(t)(llmagent.New(llmagent.Config{Name: "plain", Model: d.guard.Model(llm)}))
		d.serve(made(t)(loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{plain}}})))
		n := 0
		for range d.runner.Run(t.Context(), "u", "s", genai.NewContentFromText("go", genai.RoleUser), agent.RunConfig{}) {
			if n++; n > 50 {
				t.Fatalf("%s: the loop goes on after the limit", style)
			}
		}
		if llm.calls() != 3 {
			t.Errorf("%s: %d calls", style, llm.calls())
		}
		d.checkPairs()
	}
}

// failing is a service that cannot store while fail is set.
type failing struct {
	session.Service
	fail atomic.Bool
}

func (f *failing) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if f.fail.Load() {
		return errors.New("disk full")
	}
	return f.Service.AppendEvent(ctx, s, ev)
}

func TestARunWhoseMessageIsNotStoredTakesNoTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000, 0)
	llm := newWorker()
	llm.answer = func(int, *model.LLMRequest) *genai.Content { return said("hi") }
	d := newDesk(t, guard.Config{Session: guard.Limits{Wall: time.Hour}, Now: func() time.Time { return now }}, llm)
	broken := &failing{Service: d.sessions}
	d.sessions = broken
	d.serve(agentOf(t, d))
	broken.fail.Store(true)
	if _, errs := d.say("one", agent.StreamingModeNone, 0); len(errs) == 0 {
		t.Fatal("the message was stored")
	}
	broken.fail.Store(false)
	now = now.Add(2 * time.Hour)
	if _, errs := d.say("two", agent.StreamingModeNone, 0); len(errs) > 0 {
		t.Errorf("the session has worked for no time: %v", errs)
	}
}

// toolset is a toolset of one tool.
type toolset struct{ tool.Tool }

func (s toolset) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return []tool.Tool{s.Tool}, nil }

func TestAnAgentToolIsChargedAfterItsConfirmation(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
		switch _, outer := req.Tools["inner"]; {
		case outer:
			return asks("inner", map[string]any{"request": "go"})
		case n > 30:
			return said("enough")
		}
		return asks("work", map[string]any{"n": n})
	}
	d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 10}}, llm)
	w := d.guard.Model(llm)
	inner := agenttool.New(leaf(t, d, "inner", w, nil), nil)
	d.serve(made(t)(llmagent.New(llmagent.Config{Name: "outer", Model: w, Toolsets: []tool.Toolset{tool.WithConfirmation(toolset{inner}, true, nil)}})))
	events, _ := d.say("go", agent.StreamingModeNone, 0)
	var yes *genai.Content
	for _, ev := range events {
		for _, p := range ev.Content.Parts {
			if c := p.FunctionCall; c != nil && c.Name == "adk_request_confirmation" {
				yes = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: c.ID, Name: c.Name, Response: map[string]any{"confirmed": true}}}}}
			}
		}
	}
	if yes == nil {
		t.Fatal("there is no question")
	}
	before := llm.calls()
	for _, err := range d.runner.Run(t.Context(), "u", "s", yes, agent.RunConfig{}) {
		if err != nil {
			break
		}
	}
	if n := llm.calls() - before; n != 10 {
		t.Errorf("%d calls in a turn of 10", n)
	}
	if u := d.used(); u.ModelCalls != llm.calls() {
		t.Errorf("%d of %d calls are counted", u.ModelCalls, llm.calls())
	}
}

func TestAnAgentToolIsChargedWhileAnotherTurnEnds(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	var d *desk
	llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
		_, outer := req.Tools["inner"]
		switch {
		case req.Contents[len(req.Contents)-1].Parts[0].Text == "short":
			return said("short")
		case n > 30:
			return said("enough")
		case outer && n == 0:
			for range d.runner.Run(context.Background(), "u", "s", genai.NewContentFromText("short", genai.RoleUser), agent.RunConfig{}) {
			}
			fallthrough
		case outer:
			return asks("inner", map[string]any{"request": "go"})
		}
		return asks("work", map[string]any{"n": n})
	}
	d = newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 10}}, llm)
	w := d.guard.Model(llm)
	d.serve(leaf(t, d, "outer", w, nil, agenttool.New(leaf(t, d, "inner", w, nil), nil)))
	d.say("go", agent.StreamingModeNone, 0)
	if llm.calls() != 11 { // one is of the other turn
		t.Errorf("%d calls in turns of 10 and 1", llm.calls())
	}
	if u := d.used(); u.ModelCalls != llm.calls() {
		t.Errorf("%d of %d calls are counted", u.ModelCalls, llm.calls())
	}
}

// TestARefusedToolLeavesNoOpenCall has tools in parallel agents that call the model themselves. Their refusals
// must not count as those of the agent: the call that ends a loop would be stored, and its response be dropped
// when another agent stops.
func TestARefusedToolLeavesNoOpenCall(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		for _, limits := range []guard.Limits{{USD: 20 * callCost}, {ModelCalls: 20}, {Tokens: 20 * 550}} {
			t.Run(fmt.Sprint(name, limits), func(t *testing.T) {
				t.Parallel()
				llm := newWorker()
				llm.delay = time.Millisecond
				llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
					if _, outer := req.Tools["ask"]; !outer {
						return asks("work", map[string]any{"n": n})
					}
					c := asks("inner", map[string]any{"request": "go"})
					c.Parts = append(c.Parts, asks("ask", map[string]any{"n": n}).Parts...)
					return c
				}
				d := newDesk(t, guard.Config{Turn: limits}, llm)
				w := d.guard.Model(llm)
				ask, err := functiontool.New(functiontool.Config{Name: "ask", Description: "Asks."}, func(ctx agent.ToolContext, _ workArgs) (map[string]any, error) {
					for _, err := range w.GenerateContent(ctx, &model.LLMRequest{}, false) {
						if err != nil {
							return nil, err
						}
					}
					return map[string]any{"ok": true}, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				var agents []agent.Agent
				for i := range 8 {
					agents = append(agents, leaf(t, d, fmt.Sprint("p", i), w, nil, agenttool.New(leaf(t, d, "inner", w, nil), nil), ask))
				}
				d.serve(made(t)(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: agents}})))
				d.say("go", mode, 3)
				if u := d.used(); llm.calls() > 20 || u.ModelCalls != llm.calls() {
					t.Errorf("%d calls, %d counted", llm.calls(), u.ModelCalls)
				}
				d.checkPairs()
			})
		}
	}
}

func TestManyTurnsAtOnceKeepTheirLimits(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.delay = 5 * time.Millisecond
	d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 3}, Landing: guard.LandingHard}, llm)
	const turns = 60
	var runs sync.WaitGroup
	for i := range turns {
		runs.Go(func() {
			for _, err := range d.runner.Run(t.Context(), "u", "s", genai.NewContentFromText(fmt.Sprint(i), genai.RoleUser), agent.RunConfig{}) {
				if err != nil {
					return
				}
			}
		})
	}
	runs.Wait()
	if llm.calls() != 3*turns {
		t.Errorf("%d calls of %d turns of 3", llm.calls(), turns)
	}
}
