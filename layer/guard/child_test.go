package guard_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// subtasks gives an agent a tool that runs a subtask in a session of its own. then is called in the tool after
// the subtask has ended.
func subtasks(limits guard.Limits, then func(c *guard.Child, errs []error)) option {
	return func(d *desk, c *llmagent.Config) {
		made, err := functiontool.New(functiontool.Config{Name: "subtask", Description: "Runs a subtask."}, func(ctx agent.ToolContext, _ workArgs) (map[string]any, error) {
			ref := compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s:sub:" + ctx.FunctionCallID()}
			inner, child, err := d.guard.Child(ctx, ref, "subtask", limits)
			if err != nil {
				then(nil, []error{err})
				return nil, err
			}
			defer child.Close()
			if _, err := d.sessions.Create(inner, &session.CreateRequest{AppName: "app", UserID: "u", SessionID: ref.SessionID}); err != nil {
				return nil, err
			}
			a, err := llmagent.New(llmagent.Config{Name: "small", Model: d.guard.Model(d.llm), Tools: []tool.Tool{work(d.t, d.ran)}})
			if err != nil {
				return nil, err
			}
			r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: d.sessions, PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{d.guard.Plugin()}}})
			if err != nil {
				return nil, err
			}
			var errs []error
			for _, err := range r.Run(inner, "u", ref.SessionID, genai.NewContentFromText("work", genai.RoleUser), agent.RunConfig{}) {
				if err != nil {
					errs = append(errs, err)
					break
				}
			}
			child.Close()
			then(child, errs)
			return map[string]any{"done": true}, nil
		})
		if err != nil {
			d.t.Fatal(err)
		}
		c.Tools = append(c.Tools, made)
	}
}

// parentCalls answers for an agent that calls "subtask" once, and for its subtask, which works for ever.
func parentCalls(n int, req *model.LLMRequest) *genai.Content {
	if _, parent := req.Tools["subtask"]; !parent {
		if toolsOff(req) {
			return said("small is done")
		}
		return asks("work", map[string]any{"n": n})
	}
	if n == 0 {
		return asks("subtask", map[string]any{"n": 0})
	}
	return said("done")
}

func TestASubtaskIsChargedToItselfAndToItsCaller(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = parentCalls
	var child *guard.Child
	d := newDesk(t, guard.Config{}, llm, subtasks(guard.Limits{ModelCalls: 3}, func(c *guard.Child, errs []error) {
		if child = c; len(errs) != 0 {
			t.Errorf("the subtask: %v", errs)
		}
	}))
	if _, errs := d.say("hi", agent.StreamingModeNone, 0); len(errs) != 0 {
		t.Fatal(errs)
	}
	if u := child.Usage(); u.ModelCalls != 3 || u.USD != 3*callCost {
		t.Errorf("the subtask has used %+v", u)
	}
	if stop := child.Stopped(); stop == nil || stop.Scope != guard.ScopeSubtask || stop.Kind != guard.ModelCalls {
		t.Errorf("the subtask was stopped by %v", stop)
	}
	want := guard.SubtaskUsage{Count: 1, ModelCalls: 3, Tokens: tokens.Usage{PromptTokens: 1500, OutputTokens: 150}, USD: 3 * callCost}
	u := d.used()
	if u.Subtasks != want || u.ModelCalls != 5 || u.USD != 5*callCost || u.Turn.USD != 5*callCost || u.Models[0].Calls != 5 {
		t.Errorf("usage %+v", u)
	}
	// Once its result is stored, the subtask is no longer kept apart.
	if text, err := d.stored().State().Get(guard.StateKey); err != nil || strings.Contains(text.(string), `"open"`) {
		t.Errorf("%v: %v", err, text)
	}
	stored, ok := guard.Stored(d.stored())
	if !ok || stored.USD != u.USD || stored.Subtasks != want {
		t.Errorf("stored: %+v", stored)
	}
	resp, err := d.sessions.List(t.Context(), &session.ListRequest{AppName: "app", UserID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range resp.Sessions {
		if s.ID() != "s" {
			u, ok := guard.Stored(s)
			found = ok && u.USD == 3*callCost && u.ModelCalls == 3
		}
	}
	if !found {
		t.Error("the subtask's own session has no totals")
	}
}

func TestASubtaskWithoutPricesIsSaid(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.name = "home-made"
	llm.answer = parentCalls
	d := newDesk(t, guard.Config{}, llm, subtasks(guard.Limits{ModelCalls: 3}, func(*guard.Child, []error) {}))
	if _, errs := d.say("hi", agent.StreamingModeNone, 0); len(errs) != 0 {
		t.Fatal(errs)
	}
	stored, ok := guard.Stored(d.stored())
	if u := d.used(); !ok || !u.Subtasks.Unpriced || u.Subtasks.USD != 0 || u.Subtasks.ModelCalls != 3 || stored.Subtasks != u.Subtasks {
		t.Errorf("usage %+v, stored %+v", u, stored)
	}
}

func TestASubtaskStopsAtTheLimitsOfItsCaller(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]guard.Config{
		"turn":    {Turn: guard.Limits{USD: 4 * callCost}, Landing: guard.LandingHard},
		"session": {Session: guard.Limits{ModelCalls: 4}, Landing: guard.LandingHard},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			llm := newWorker()
			llm.answer = parentCalls
			var inner []error
			d := newDesk(t, cfg, llm, subtasks(guard.Limits{ModelCalls: 100}, func(_ *guard.Child, errs []error) { inner = errs }))
			_, errs := d.say("hi", agent.StreamingModeNone, 0)
			if llm.calls() != 4 || len(inner) != 1 || !errors.Is(inner[0], guard.ErrStopped) || len(errs) != 1 || !errors.Is(errs[0], guard.ErrStopped) {
				t.Errorf("%d calls, inner %v, outer %v", llm.calls(), inner, errs)
			}
			d.checkPairs()
		})
	}
}

func TestASubtaskKnowsWhatIsLeft(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
		if n == 0 {
			return asks("look", map[string]any{"n": 0})
		}
		return said("done")
	}
	var left, own guard.Limits
	var bad error
	look := func(d *desk, c *llmagent.Config) {
		made, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks."}, func(ctx agent.ToolContext, _ workArgs) (map[string]any, error) {
			_, child, err := d.guard.Child(ctx, compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "c"}, "look", guard.Limits{Tokens: 300, Wall: time.Minute})
			if err != nil {
				return nil, err
			}
			left = child.Left()
			child.Close()
			_, child, err = d.guard.Child(ctx, compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "c2"}, "look", guard.Limits{})
			own = child.Left()
			_, _, bad = d.guard.Child(ctx, compaction.SessionRef{}, "look", guard.Limits{USD: -1})
			return map[string]any{}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Tools = append(c.Tools, made)
	}
	now := time.Now()
	cfg := guard.Config{Turn: guard.Limits{USD: 5 * callCost, Tokens: 10_000}, Session: guard.Limits{USD: 3 * callCost, ModelCalls: 9}, Now: func() time.Time { return now }}
	d := newDesk(t, cfg, llm, look)
	d.say("hi", agent.StreamingModeNone, 0)
	if want := (guard.Limits{USD: 2 * callCost, ModelCalls: 8, Tokens: 300, Wall: time.Minute}); left != want {
		t.Errorf("left %+v, want %+v", left, want)
	}
	if want := (guard.Limits{USD: 2 * callCost, ModelCalls: 8, Tokens: 9_450}); own != want {
		t.Errorf("left %+v, want %+v", own, want)
	}
	var config *compaction.ConfigError
	if !errors.As(bad, &config) || config.Field != "look.USD" {
		t.Errorf("a negative limit: %v", bad)
	}
}

// killed is a service in which everything after some call is lost, as when the process ends.
type killed struct {
	session.Service
	lost func(*session.Event) bool
}

func (k *killed) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if k.lost(ev) {
		return errors.New("killed")
	}
	return k.Service.AppendEvent(ctx, s, ev)
}

func TestASubtaskOfAnEndedProcessIsChargedOnce(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = parentCalls
	d := newDesk(t, guard.Config{}, llm, subtasks(guard.Limits{ModelCalls: 3}, func(*guard.Child, []error) {}))
	inner := d.sessions
	d.sessions = &killed{inner, func(ev *session.Event) bool { // the result of the subtask is never stored
		return ev.Author == "desk" && len(responsesOf(ev)) > 0
	}}
	d.serve(agentOf(t, d, subtasks(guard.Limits{ModelCalls: 3}, func(*guard.Child, []error) {})))
	d.say("hi", agent.StreamingModeNone, 0)
	if u, _ := guard.Stored(d.stored()); u.ModelCalls != 1 {
		t.Fatalf("stored %+v", u)
	}
	next := newDesk(t, guard.Config{Session: guard.Limits{USD: 4 * callCost}}, newWorker())
	next.sessions = inner
	next.guard.UseService(inner)
	next.serve(agentOf(t, next))
	_, errs := next.say("go on", agent.StreamingModeNone, 0)
	if u := next.used(); len(errs) != 1 || next.llm.calls() != 0 || u.USD != 4*callCost || u.Subtasks.USD != 3*callCost || u.Subtasks.Count != 1 {
		t.Errorf("%v after %d calls: %+v", errs, next.llm.calls(), u)
	}
	if err := next.guard.Reset(t.Context(), inner, next.ref, guard.ResetOptions{AddUSD: callCost}); err != nil {
		t.Fatal(err)
	}
	next.llm.answer = func(int, *model.LLMRequest) *genai.Content { return said("done") }
	_, errs = next.say("now", agent.StreamingModeNone, 0)
	if u := next.used(); len(errs) != 0 || u.USD != 5*callCost {
		t.Errorf("%v: %+v", errs, u)
	}
	// The charge is stored now, and not made again.
	last := newDesk(t, guard.Config{}, newWorker())
	last.sessions = inner
	last.guard.UseService(inner)
	if u := last.used(); u.USD != 5*callCost || u.Subtasks.Count != 1 || u.Subtasks.USD != 3*callCost {
		t.Errorf("usage %+v", u)
	}
}
