package subtask_test

import (
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
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/tokens"
)

// guarded is a tool that runs only after a confirmation, and counts its runs.
func guarded(t testing.TB, name string, runs *atomic.Int32) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: name, Description: "Deletes a file.", RequireConfirmation: true},
		func(agent.ToolContext, question) (map[string]any, error) {
			runs.Add(1)
			return map[string]any{"deleted": "notes.txt"}, nil
		})
	must(t, err)
	return made
}

// calls is a model that calls a tool so many times, one by one, and then answers with the last response.
func calls(n int, name string) *llm {
	return newLLM(small, func(_ int, req *model.LLMRequest) *model.LLMResponse {
		answered, last := 0, ""
		for _, c := range req.Contents {
			for _, part := range c.Parts {
				// ADK shows the model only the newest response of a call that was resumed.
				if part.FunctionResponse != nil && part.FunctionResponse.Name == name {
					answered++
					if last = "deleted"; part.FunctionResponse.Response["error"] != nil {
						last = "not deleted: " + part.FunctionResponse.Response["error"].(string)
					}
				}
			}
		}
		if answered < n {
			return call(name, map[string]any{"ask": "notes.txt"})
		}
		return say(last)
	})
}

// decide answers the newest question of ADK's in events.
func decide(t *testing.T, p *parent, events []*session.Event, confirmed bool) []*session.Event {
	t.Helper()
	for _, ev := range events {
		for _, part := range parts(ev.Content) {
			if part.FunctionCall != nil && part.FunctionCall.Name == toolconfirmation.FunctionCallName {
				msg := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
					ID: part.FunctionCall.ID, Name: part.FunctionCall.Name, Response: map[string]any{"confirmed": confirmed},
				}}}}
				out, err := p.send(t.Context(), msg)
				must(t, err)
				return out
			}
		}
	}
	t.Fatal("nobody was asked")
	return nil
}

// hintIn is what the person is asked.
func hintIn(events []*session.Event) string {
	for _, ev := range events {
		for _, c := range ev.Actions.RequestedToolConfirmations {
			return c.Hint
		}
	}
	return ""
}

// The parent's tool asks in the place of the subtask's. After the decision the subtask goes on where it was,
// with a new runner, as after a restart, and the totals are those of both halves.
func TestAConfirmationIsAskedForThroughTheParent(t *testing.T) {
	t.Parallel()
	for _, confirmed := range []bool{true, false} {
		for _, store := range storages.All(t) {
			t.Run(store.Name+map[bool]string{true: " approved", false: " rejected"}[confirmed], func(t *testing.T) {
				t.Parallel()
				with := confirmed // also with the app's guard, a new one after the decision
				var runs atomic.Int32
				svc, child := store.Open(t), calls(1, "read_file")
				p := &parent{t: t, svc: svc, llm: once(subtask.ReadFileName, map[string]any{"path": "notes.txt", "question": "?"})}
				parentLLM := p.llm
				start := func() {
					g := newGuard(t, guard.Config{})
					wrapped, err := newRunner(t, svc, child, func(cfg *subtask.Config) {
						if with {
							cfg.Guard = g
							p.llm, p.plugins = g.Model(parentLLM), []*plugin.Plugin{g.Plugin()}
						}
					}).Wrappers(guarded(t, "read_file", &runs))
					must(t, err)
					p.tools = wrapped
				}
				start()
				asked := p.say("go")
				if hint := hintIn(asked); !strings.Contains(hint, `"agentic_read_file" wants to call:`) || !strings.Contains(hint, `read_file({"ask":"notes.txt"})`) {
					t.Errorf("the person is asked %q", hint)
				}
				if runs.Load() != 0 {
					t.Fatal("the tool ran without a confirmation")
				}
				start()
				got := responseOf(t, decide(t, p, asked, confirmed), subtask.ReadFileName)
				if want := map[bool]string{true: "deleted", false: "not deleted: "}[confirmed]; !strings.HasPrefix(text(got["digest"]), want) {
					t.Errorf("the answer is %q, want %q", got, want)
				}
				if want := map[bool]int32{true: 1, false: 0}[confirmed]; runs.Load() != want {
					t.Errorf("the tool ran %d times, want %d", runs.Load(), want)
				}
				if ids := p.children(); len(ids) != 1 || got["session"] != ids[0] {
					t.Errorf("the subtask went on in %v, and there are %q", got["session"], ids)
				}
				m, _ := tokens.Lookup(small)
				if want := fmt.Sprintf("2 calls, %d in / %d out, %s", child.used().PromptTokens, child.used().OutputTokens, m.Nanos(child.used())); got["usage"] != want || len(child.seen()) != 2 {
					t.Errorf("the usage is %q, want %q", got["usage"], want)
				}
				if with {
					u, err := newGuard(t, guard.Config{}).Usage(t.Context(), svc, mainRef)
					must(t, err)
					if u.Subtasks.ModelCalls != 2 || u.Subtasks.Tokens != child.used() {
						t.Errorf("the parent's total is %+v, want %+v in 2 calls", u.Subtasks, child.used())
					}
				}
			})
		}
	}
}

// ADK passes on no second question of a call: it is declined, and the subtask ends.
func TestASecondConfirmationOfACallIsDeclined(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	spec := subtask.Spec{Message: "clean up twice", Tools: []tool.Tool{guarded(t, "delete", &runs)}}
	p, a := delegating(t, storages.InMemory().Open(t), calls(2, "delete"), spec, nil)
	answer := responseOf(t, decide(t, p, p.say("go"), true), "delegate")["answer"].(string)
	if runs.Load() != 1 || !strings.HasPrefix(answer, "not deleted: ") || len(a.results) != 2 {
		t.Errorf("the tool ran %d times, and the answer is %q", runs.Load(), answer)
	}
}

func TestConfirmationsCanBeDeclinedAtOnce(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	var kinds []subtask.Kind
	spec := subtask.Spec{Message: "clean up", Tools: []tool.Tool{guarded(t, "delete", &runs)}}
	p, a := delegating(t, storages.InMemory().Open(t), calls(1, "delete"), spec, func(cfg *subtask.Config) {
		cfg.Confirmations = subtask.ConfirmDecline
		cfg.Observer = observe(&kinds)
	})
	p.say("go")
	if got := a.only(t); runs.Load() != 0 || !strings.HasPrefix(got.Text, "not deleted: ") {
		t.Errorf("the tool ran %d times, and the answer is %q", runs.Load(), got.Text)
	}
	must(t, a.r.Flush(t.Context()))
	if want := "[started declined ended]"; text(kinds) != want {
		t.Errorf("observed %s, want %s", text(kinds), want)
	}
}

// A tool of the parent's may have asked for itself: then there is no subtask that waits.
func TestAConfirmationOfTheParentsToolStartsTheSubtask(t *testing.T) {
	t.Parallel()
	a := &asker{r: newRunner(t, session.InMemoryService(), says(small, say("fine")), nil), spec: subtask.Spec{Message: "?"}}
	inner := a.tool(t).(interface {
		Run(agent.ToolContext, any) (map[string]any, error)
	})
	outer, err := functiontool.New(functiontool.Config{Name: "outer", Description: "Asks.", RequireConfirmation: true},
		func(ctx agent.ToolContext, q question) (map[string]any, error) {
			return inner.Run(ctx, map[string]any{"ask": q.Ask})
		})
	must(t, err)
	p := &parent{t: t, svc: session.InMemoryService(), tools: []tool.Tool{outer}, llm: once("outer", map[string]any{"ask": "?"})}
	decide(t, p, p.say("go"), true)
	if got := a.only(t); got.Text != "fine" {
		t.Errorf("the answer is %q", got.Text)
	}
}

// The limits are those of both halves together.
func TestADecisionDoesNotRenewTheLimits(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	child := calls(9, "delete")
	spec := subtask.Spec{Message: "clean up", MaxTurns: 2, Tools: []tool.Tool{guarded(t, "delete", &runs)}}
	p, a := delegating(t, session.InMemoryService(), child, spec, nil)
	decide(t, p, p.say("go"), true)
	if got := a.results[1]; len(child.seen()) != 2 || got.Turns != 2 || !got.Truncated || runs.Load() != 1 {
		t.Errorf("%d model calls, %d runs, %+v; want 2 calls", len(child.seen()), runs.Load(), got)
	}
}
