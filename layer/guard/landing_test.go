package guard_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/layer/guard"
)

// nearly is a ceiling under which the third call of a turn is the last one, and leaves a little.
const nearly = 3*callCost + callCost/13

// refused fails unless the next run of a desk ends with a stop, without a call and without a message.
func (d *desk) refused() *guard.StopError {
	d.t.Helper()
	calls, events := d.llm.calls(), d.stored().Events().Len()
	_, errs := d.say("one more", agent.StreamingModeNone, 0)
	var stop *guard.StopError
	if len(errs) != 1 || !errors.As(errs[0], &stop) || d.llm.calls() != calls || d.stored().Events().Len() != events {
		d.t.Fatalf("the next run is not refused: %v, %d calls more", errs, d.llm.calls()-calls)
	}
	return stop
}

// next is the desk in another process.
func (d *desk) next(cfg guard.Config) *desk {
	d.t.Helper()
	later := newDesk(d.t, cfg, newWorker())
	later.sessions = d.sessions
	later.serve(agentOf(d.t, later))
	return later
}

func TestATurnThatLandsBelowItsCeilingRefusesTheNextRun(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		for _, wrapped := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var opts []option
				if !wrapped {
					opts = append(opts, bare)
				}
				cfg := guard.Config{Turn: guard.Limits{USD: nearly}}
				d := newDesk(t, cfg, newWorker(), opts...)
				events, errs := d.say("hi", mode, 0)
				if len(errs) != 0 || d.llm.calls() != 3 || events[len(events)-1].Content.Parts[0].Text != "done" {
					t.Fatalf("%v after %d calls", errs, d.llm.calls())
				}
				want := guard.StopError{Kind: guard.CostCeiling, Scope: guard.ScopeTurn, Spent: "$0.0030", Bound: "$0.0031", Landed: true}
				u := d.used()
				if u.USD != 3*callCost || u.Stopped == nil || *u.Stopped != want {
					t.Errorf("%v spent, stopped %+v", u.USD, u.Stopped)
				}
				if stop := d.refused(); *stop != want {
					t.Errorf("refused with %+v", stop)
				}
				if d.observed(guard.Tripped) != 1 || d.observed(guard.Landed) != 1 {
					t.Errorf("observations: %v", d.seen)
				}
				for ev := range d.stored().Events().All() {
					if stop := guard.StopOf(ev); (stop != nil) != (ev.ID == events[len(events)-1].ID) || stop != nil && *stop != want {
						t.Errorf("the event %+v says %+v", ev.Content, stop)
					}
				}

				later := d.next(cfg)
				if stop := later.refused(); *stop != want {
					t.Errorf("refused in the next process with %+v", stop)
				}
				if err := later.guard.Reset(t.Context(), later.sessions, later.ref, guard.ResetOptions{}); err != nil {
					t.Fatal(err)
				}
				if _, errs := later.say("go on", mode, 0); len(errs) != 0 || later.llm.calls() != 3 {
					t.Errorf("%v after %d calls", errs, later.llm.calls())
				}
				if u := later.used(); u.USD != 6*callCost || u.Stopped == nil {
					t.Errorf("%+v", u)
				}
				higher := d.next(guard.Config{Turn: guard.Limits{USD: 2 * nearly}})
				if _, errs := higher.say("more", mode, 0); len(errs) != 0 || higher.llm.calls() == 0 {
					t.Errorf("under a higher ceiling: %v", errs)
				}
				higher.checkPairs()
			})
		}
	}
}

// TestOfTwoBoundsTheOneThatHoldsTheNextRunIsTold: the last call under the cost ceiling is also the last of the calls that
// a turn may make, and only the ceiling waits for a reset.
func TestOfTwoBoundsTheOneThatHoldsTheNextRunIsTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{Turn: guard.Limits{USD: nearly, ModelCalls: 3}}, newWorker())
	events, errs := d.say("hi", agent.StreamingModeNone, 0)
	if len(errs) != 0 || d.llm.calls() != 3 {
		t.Fatalf("%v after %d calls", errs, d.llm.calls())
	}
	want := guard.StopError{Kind: guard.CostCeiling, Scope: guard.ScopeTurn, Spent: "$0.0030", Bound: "$0.0031", Landed: true}
	if stop := guard.StopOf(events[len(events)-1]); stop == nil || *stop != want {
		t.Errorf("the last event says %+v", stop)
	}
	if u := d.used(); u.Stopped == nil || *u.Stopped != want {
		t.Errorf("the usage says %+v", u.Stopped)
	}
	if stop := d.refused(); *stop != want {
		t.Errorf("refused with %+v", stop)
	}
}

func TestASessionThatLandsBelowABoundRefusesTheNextRun(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]guard.Limits{
		"usd": {USD: nearly}, "calls": {ModelCalls: 3}, "tokens": {Tokens: 3*550 + 10}, "wall": {Wall: 44 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(1_000, 0)
			llm := newWorker()
			cfg := guard.Config{Session: limits, Now: func() time.Time { return now }}
			llm.answer = func(_ int, req *model.LLMRequest) *genai.Content {
				now = now.Add(15 * time.Second)
				if toolsOff(req) {
					return said("done")
				}
				return asks("work", map[string]any{"n": 1})
			}
			d := newDesk(t, cfg, llm)
			if _, errs := d.say("hi", agent.StreamingModeNone, 0); len(errs) != 0 || llm.calls() != 3 {
				t.Fatalf("%v after %d calls", errs, llm.calls())
			}
			if stop := d.refused(); stop.Scope != guard.ScopeSession || stop.Landed == (name == "calls" || name == "wall") {
				t.Errorf("%+v", stop)
			}
			if stop := d.next(cfg).refused(); stop.Scope != guard.ScopeSession {
				t.Errorf("in the next process: %+v", stop)
			}
			var short *guard.ResetError
			if err := d.guard.Reset(t.Context(), d.sessions, d.ref, guard.ResetOptions{}); !errors.As(err, &short) {
				t.Fatalf("a reset that adds nothing: %v", err)
			}
			if err := d.guard.Reset(t.Context(), d.sessions, d.ref, short.Missing); err != nil {
				t.Fatalf("a reset that adds what is missing: %v", err)
			}
			before := llm.calls()
			if d.say("on", agent.StreamingModeNone, 0); llm.calls() < before+2 || toolsOff(llm.requests[before]) {
				t.Errorf("%d calls after the reset", llm.calls()-before)
			}
		})
	}
}

// Whoever adds what the error says is missing must not be told of another bound, whose error leaves out the first.
func TestAResetByItsErrorIsNotRefusedForAnotherBound(t *testing.T) {
	t.Parallel()
	limits := guard.Limits{USD: 3 * callCost, ModelCalls: 3, Tokens: 3 * 550}
	for _, landing := range []guard.LandingMode{guard.LandingSoft, guard.LandingHard} {
		d := newDesk(t, guard.Config{Session: limits, Landing: landing}, newWorker())
		d.say("hi", agent.StreamingModeNone, 0)
		err := d.guard.Reset(t.Context(), d.sessions, d.ref, guard.ResetOptions{})
		var short *guard.ResetError
		if !errors.As(err, &short) || !strings.Contains(err.Error(), "add AddUSD: guard.Dollars(0.01), AddModelCalls: 2, AddTokens: 1000 or more") {
			t.Fatalf("%s: a reset that adds nothing: %v", landing, err)
		}
		if err := d.guard.Reset(t.Context(), d.sessions, d.ref, short.Missing); err != nil {
			t.Errorf("%s: a reset that adds what is missing: %v", landing, err)
		}
	}
}

func TestATurnThatLandsUnderAnotherLimitSaysSo(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]guard.Limits{"calls": {ModelCalls: 3}, "tokens": {Tokens: 3*550 + 10}} {
		for _, style := range []guard.StopStyle{guard.AsError, guard.AsEvent} {
			d := newDesk(t, guard.Config{Turn: limits, OnStop: style}, newWorker())
			for range 2 { // such a limit ends with its turn
				events, errs := d.say("hi", agent.StreamingModeNone, 0)
				last := events[len(events)-1]
				stop := guard.StopOf(last)
				if len(errs) != 0 || last.Content.Parts[0].Text != "done" || stop == nil || stop.Scope != guard.ScopeTurn {
					t.Fatalf("%s, %s: %v, %+v", name, style, errs, stop)
				}
				if code := last.ErrorCode; (code == string(stop.Kind)) != (style == guard.AsEvent) {
					t.Errorf("%s, %s: the error code is %q", name, style, code)
				}
			}
			if d.llm.calls() != 6 || d.observed(guard.Tripped) != 2 || d.used().Stopped != nil {
				t.Errorf("%s, %s: %d calls, observations %v", name, style, d.llm.calls(), d.seen)
			}
		}
	}
}

func TestALastCallThatFailsRefusesTheNextRun(t *testing.T) {
	t.Parallel()
	for _, wrapped := range []bool{true, false} {
		var opts []option
		if !wrapped {
			opts = append(opts, bare)
		}
		llm, down := newWorker(), errors.New("503")
		llm.err = func(n int) error {
			if n == 2 {
				return down
			}
			return nil
		}
		cfg := guard.Config{Turn: guard.Limits{USD: nearly}}
		d := newDesk(t, cfg, llm, opts...)
		if _, errs := d.say("hi", agent.StreamingModeNone, 0); len(errs) != 1 || !errors.Is(errs[0], down) {
			t.Fatalf("%v", errs)
		}
		if stop := d.refused(); !stop.Landed || stop.Spent != "$0.0020" {
			t.Errorf("%+v", stop)
		}
		if d.observed(guard.Tripped) != 1 {
			t.Errorf("observations: %v", d.seen)
		}
		if err := d.guard.Save(t.Context(), d.sessions); err != nil {
			t.Fatal(err)
		}
		d.next(cfg).refused()
	}
}

// TestAnAnswerInTheModelsPlaceIsNoLastCall has a callback of the app that answers where the call would be the last.
func TestAnAnswerInTheModelsPlaceIsNoLastCall(t *testing.T) {
	t.Parallel()
	for _, wrapped := range []bool{true, false} {
		d := newDesk(t, guard.Config{Turn: guard.Limits{USD: nearly}}, newWorker(), func(d *desk, c *llmagent.Config) {
			if !wrapped {
				c.Model = d.llm
			}
			c.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
				if d.llm.calls() == 2 {
					return &model.LLMResponse{Content: said("from the cache")}, nil
				}
				return nil, nil
			}}
		})
		events, errs := d.say("hi", agent.StreamingModeNone, 0)
		if len(errs) != 0 || d.llm.calls() != 2 || guard.StopOf(events[len(events)-1]) != nil {
			t.Fatalf("%v after %d calls", errs, d.llm.calls())
		}
		if u := d.used(); u.Stopped != nil || d.observed(guard.Landed)+d.observed(guard.Tripped) != 0 {
			t.Errorf("%+v, observations %v", u.Stopped, d.seen)
		}
	}
}

func TestAnAgentToolThatLandsRefusesTheNextRun(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = func(n int, req *model.LLMRequest) *genai.Content {
		_, outer := req.Tools["inner"]
		switch {
		case toolsOff(req):
			return said("done")
		case outer:
			return asks("inner", map[string]any{"request": "go"})
		}
		return asks("work", map[string]any{"n": n})
	}
	d := newDesk(t, guard.Config{Turn: guard.Limits{USD: 5*callCost + callCost/3}}, llm)
	w := d.guard.Model(llm)
	inner := agenttool.New(leaf(t, d, "inner", w, nil), nil)
	d.serve(made(t)(llmagent.New(llmagent.Config{Name: "outer", Model: w, Tools: []tool.Tool{inner}})))
	_, errs := d.say("go", agent.StreamingModeNone, 0)
	if len(errs) != 0 || llm.calls() != 6 {
		t.Fatalf("%v after %d calls", errs, llm.calls())
	}
	if stop := d.refused(); stop.Scope != guard.ScopeTurn {
		t.Errorf("%+v", stop)
	}
}

func TestASubtaskThatLandsUnderTheCeilingOfItsCallerRefusesTheNextRun(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = parentCalls
	var stop *guard.StopError
	d := newDesk(t, guard.Config{Turn: guard.Limits{USD: nearly}}, llm, subtasks(guard.Limits{}, func(c *guard.Child, errs []error) {
		if stop = c.Stopped(); len(errs) > 0 {
			t.Errorf("the subtask: %v", errs)
		}
	}))
	if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) != 0 || llm.calls() != 4 {
		t.Fatalf("%v after %d calls", errs, llm.calls())
	}
	if want := (guard.StopError{Kind: guard.CostCeiling, Scope: guard.ScopeTurn, Spent: "$0.0030", Bound: "$0.0031", Landed: true}); stop == nil || *stop != want {
		t.Errorf("the subtask was stopped by %+v", stop)
	}
	if !toolsOff(llm.requests[3]) {
		t.Error("the agent may call tools behind the last call that fits")
	}
	d.refused()
}

func TestStopOfReadsNothingElse(t *testing.T) {
	t.Parallel()
	for _, metadata := range []map[string]any{nil, {"longsession:stop": "x"}, {"longsession:stop": map[string]any{}}, {"longsession:stop": map[string]any{"kind": 1, "scope": "turn"}}} {
		ev := session.NewEventWithContext(t.Context(), "i")
		ev.CustomMetadata = metadata
		if stop := guard.StopOf(ev); stop != nil {
			t.Errorf("%v: %+v", metadata, stop)
		}
	}
	if guard.StopOf(nil) != nil {
		t.Error("no event has a stop")
	}
}
