package integration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// stopped is an error of a type of its own, as a guard returns one.
type stopped struct{ at int }

func (e *stopped) Error() string { return fmt.Sprintf("stopped at call %d", e.at) }

// refusing counts calls of BeforeModel and refuses those from the bound on.
func refusing(t *testing.T, bound int, before *atomic.Int32) *plugin.Plugin {
	t.Helper()
	return hooked(t, plugin.Config{Name: "refusing", BeforeModelCallback: func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
		if n := int(before.Add(1)); n > bound {
			return nil, &stopped{n}
		}
		return nil, nil
	}})
}

// A session that is out of budget refuses the next run there.
func TestPinAnErrorForAUserMessageRefusesTheRun(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	llm := scripted()
	seen := false
	err := pinTurn(t, service, pinAgent(t, llm, nil),
		hooked(t, plugin.Config{Name: "refuses", OnUserMessageCallback: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
			return nil, &stopped{7}
		}}),
		hooked(t, plugin.Config{
			Name: "later",
			OnUserMessageCallback: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
				seen = true
				return nil, nil
			},
			BeforeRunCallback: func(agent.InvocationContext) (*genai.Content, error) { seen = true; return nil, nil },
			AfterRunCallback:  func(agent.InvocationContext) { seen = true },
		}))
	var typed *stopped
	if !errors.As(err, &typed) || typed.at != 7 {
		t.Errorf("the run ends with %v", err)
	}
	if n := getBare(t, service).Events().Len(); n != 0 || llm.calls != 0 || seen {
		t.Errorf("%d events are stored, %d model calls, a later plugin was asked: %v", n, llm.calls, seen)
	}
}

// Neither an error nor a content of BeforeRun is a way to refuse a run.
func TestPinARefusalInBeforeRunStoresTheMessageTwice(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{nil, &stopped{1}} {
		service := session.InMemoryService()
		createBare(t, service)
		llm := scripted()
		err := pinTurn(t, service, pinAgent(t, llm, nil), hooked(t, plugin.Config{Name: "refuses", BeforeRunCallback: func(agent.InvocationContext) (*genai.Content, error) {
			if refusal == nil {
				return genai.NewContentFromText("No.", genai.RoleModel), nil
			}
			return nil, refusal
		}}))
		if !errors.Is(err, refusal) || llm.calls != 0 {
			t.Errorf("the run ends with %v after %d model calls", err, llm.calls)
		}
		var texts []string
		for ev := range getBare(t, service).Events().All() {
			texts = append(texts, ev.Author+" "+ev.Content.Parts[0].Text)
		}
		if got := strings.Join(texts, ", "); got != "user Go on., user Go on." {
			t.Errorf("stored are: %s", got)
		}
	}
}

// A stop within a turn is such an error. ParallelAgent wraps it. In an agent that runs as a tool it is not
// seen at all, and the outer agent's next call is stopped.
func TestPinAnErrorOfBeforeModelStopsEveryShape(t *testing.T) {
	t.Parallel()
	for _, s := range guardShapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			llm := &tireless{name: "m"}
			var before atomic.Int32
			const bound = 10
			r := runnerOf(t, session.InMemoryService(), s.build(t, llm, pinTool(t, "look", nil)), refusing(t, bound, &before))
			p := guardedTurn(t, t.Context(), r, ref, s.runConfig(), 0)
			var typed *stopped
			if !errors.As(p.err(), &typed) || typed.at <= bound {
				t.Errorf("the run ends with %v", p.err())
			}
			if wrapped := strings.Contains(p.err().Error(), "failed to run sub-agent"); wrapped != strings.Contains(s.name, "parallel") {
				t.Errorf("the error reads %q", p.err())
			}
			if n := llm.count(); !s.nested && n != bound {
				t.Errorf("%d model calls, want %d", n, bound)
			} else if s.nested && n < 3*bound {
				t.Errorf("%d model calls, of which the plugin stopped some that agents made as tools", n)
			}
		})
	}
}

// The error of a model, and so of a wrapper around it, stops every agent that uses it. As the result of a
// tool it has lost its type.
func TestPinAnErrorOfTheModelStopsEveryShape(t *testing.T) {
	t.Parallel()
	for _, s := range guardShapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			const bound = 11
			var refused atomic.Int32
			llm := &tireless{name: "m", during: func(_ context.Context, n int) error {
				if n >= bound {
					refused.Add(1)
					return &stopped{n}
				}
				return nil
			}}
			service := session.InMemoryService()
			r := runnerOf(t, service, s.build(t, llm, pinTool(t, "look", nil)))
			p := guardedTurn(t, t.Context(), r, ref, s.runConfig(), 0)
			var typed *stopped
			if !errors.As(p.err(), &typed) || refused.Load() == 0 {
				t.Errorf("the run ends with %v", p.err())
			}
			lost := 0
			for _, ev := range p.events {
				for _, part := range ev.Content.Parts {
					if r := part.FunctionResponse; r != nil && r.Response["error"] != nil {
						if text := fmt.Sprint(r.Response["error"]); !strings.Contains(text, "stopped at call") && !strings.Contains(text, "context canceled") {
							t.Errorf("a tool's result is %s", text)
						}
						lost++
					}
				}
			}
			if !s.nested && lost > 0 || s.name == "agent tools, nested" && lost != 1 {
				t.Errorf("%d results of tools are errors", lost)
			}
		})
	}
}

// A LoopAgent goes on after errors and after events with an error code. A call that a plugin puts into the
// model's place, of a tool that escalates, ends it.
func TestPinALoopEndsByEscalationAndNotByAnError(t *testing.T) {
	t.Parallel()
	loop := guardShapes()[8]
	if loop.name != "loop" {
		t.Fatal(loop.name)
	}
	const patience = 50
	stops := map[string]func(req *model.LLMRequest) (*model.LLMResponse, error){
		"error":       func(*model.LLMRequest) (*model.LLMResponse, error) { return nil, &stopped{1} },
		"error event": func(*model.LLMRequest) (*model.LLMResponse, error) { return &model.LLMResponse{ErrorCode: "stop"}, nil },
		"escalation": func(req *model.LLMRequest) (*model.LLMResponse, error) {
			req.Tools["end_turn"] = escalating{}
			return compactiontest.CallTool("end_turn", map[string]any{}), nil
		},
	}
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			llm, service := &tireless{name: "m"}, session.InMemoryService()
			root := loop.build(t, llm, pinTool(t, "look", nil))
			r := runnerOf(t, service, root, hooked(t, plugin.Config{Name: "stops", BeforeModelCallback: func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
				return stop(req)
			}}))
			yielded := 0
			for range r.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
				if yielded++; yielded == patience {
					break
				}
			}
			if spins := yielded == patience; spins == (name == "escalation") {
				t.Errorf("the loop yielded %d times", yielded)
			}
			if name == "escalation" && yielded != 2 {
				t.Errorf("the loop yielded %d times, want a call and its response", yielded)
			}
		})
	}
}

// escalating is a tool that ends a LoopAgent.
type escalating struct{ askedInRequests }

func (escalating) Name() string                            { return "end_turn" }
func (escalating) Declaration() *genai.FunctionDeclaration { return nil }
func (escalating) Run(ctx agent.ToolContext, _ any) (map[string]any, error) {
	ctx.Actions().Escalate, ctx.Actions().SkipSummarization = true, true
	return map[string]any{"result": "stopped"}, nil
}

var _ tool.Tool = escalating{}

// The flag is copied into the contexts of sub-agents, and never back.
func TestPinEndInvocationDoesNotReachSubAgents(t *testing.T) {
	t.Parallel()
	for _, s := range guardShapes() {
		if s.name != "single" && s.name != "sequential" && s.name != "transfer" {
			continue
		}
		llm := &tireless{name: "m"}
		llm.says = func(_ string, own int, _ *model.LLMRequest) *model.LLMResponse {
			if llm.count() > 20 {
				return compactiontest.Say("Done.")
			}
			return nil
		}
		r := runnerOf(t, session.InMemoryService(), s.build(t, llm, pinTool(t, "look", nil)), hooked(t, plugin.Config{Name: "ends", OnEventCallback: func(ctx agent.InvocationContext, _ *session.Event) (*session.Event, error) {
			ctx.EndInvocation()
			return nil, nil
		}}))
		if p := guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0); p.err() != nil {
			t.Fatal(p.err())
		}
		if n := llm.count(); n < 20 {
			t.Errorf("%s: EndInvocation stopped it after %d calls", s.name, n)
		}
	}
}
