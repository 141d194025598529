package guard_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// answers replies with one text, and usage.
func answers(u *genai.GenerateContentResponseUsageMetadata) *worker {
	w := newWorker()
	w.usage = u
	w.answer = func(int, *model.LLMRequest) *genai.Content { return said("done") }
	return w
}

// both runs a test with a model that is wrapped, and with one that only the plugin sees.
func both(t *testing.T, test func(t *testing.T, opts ...option)) {
	t.Run("wrapped", func(t *testing.T) { t.Parallel(); test(t) })
	t.Run("bare", func(t *testing.T) { t.Parallel(); test(t, bare) })
}

func TestACallThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts ...option) {
		llm := answers(usage())
		broken := errors.New("503")
		llm.err = func(n int) error {
			if n == 0 {
				return broken
			}
			return nil
		}
		d := newDesk(t, guard.Config{Session: guard.Limits{ModelCalls: 1}, Landing: guard.LandingHard}, llm, opts...)
		if _, errs := d.say("hi", agent.StreamingModeNone, 0); len(errs) != 1 || !errors.Is(errs[0], broken) {
			t.Errorf("%v", errs)
		}
		if u := d.used(); u.ModelCalls != 0 || u.USD != 0 {
			t.Errorf("usage %+v", u)
		}
		if _, errs := d.say("again", agent.StreamingModeNone, 0); len(errs) != 0 || d.used().ModelCalls != 1 {
			t.Errorf("%v: %+v", errs, d.used())
		}
	})
}

func TestAModelWithoutUsageIsChargedAnEstimate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts ...option) {
		d := newDesk(t, guard.Config{}, answers(nil), opts...)
		for _, text := range []string{"hi", "a longer question"} {
			d.say(text, agent.StreamingModeNone, 0)
		}
		u := d.used()
		if u.ModelCalls != 2 || u.USD == 0 || u.Tokens.PromptTokens < 10 || u.Tokens.OutputTokens == 0 || d.observed(guard.Unmetered) != 1 {
			t.Errorf("usage %+v, observed %+v", u, d.seen)
		}
	})
}

func TestUsageThatCannotBeIsBounded(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]*genai.GenerateContentResponseUsageMetadata{
		"negative": {PromptTokenCount: -5, CandidatesTokenCount: -1, CachedContentTokenCount: -9, ThoughtsTokenCount: -3, ToolUsePromptTokenCount: -8},
		"huge":     {PromptTokenCount: math.MaxInt32, CandidatesTokenCount: math.MaxInt32, CachedContentTokenCount: math.MaxInt32, ThoughtsTokenCount: math.MaxInt32, ToolUsePromptTokenCount: math.MaxInt32},
	} {
		d := newDesk(t, guard.Config{}, answers(u))
		for i := range 3 {
			d.say(fmt.Sprint("hi ", i), agent.StreamingModeNone, 0)
		}
		got := d.used()
		if got.USD <= 0 || got.Tokens.PromptTokens <= 0 || got.Tokens.OutputTokens <= 0 || got.ModelCalls != 3 {
			t.Errorf("%s: %+v", name, got)
		}
		if stored, ok := guard.Stored(d.stored()); !ok || stored.USD != got.USD {
			t.Errorf("%s: stored %+v", name, stored)
		}
	}
}

func TestToolsOfTheProviderArePaidFor(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts ...option) {
		u := usage()
		u.ToolUsePromptTokenCount = 500
		d := newDesk(t, guard.Config{}, answers(u), opts...)
		d.say("hi", agent.StreamingModeNone, 0)
		if got := d.used(); got.USD != callCost+500*1000 || got.Tokens.PromptTokens != 1000 {
			t.Errorf("%+v", got)
		}
	})
}

func TestAStreamThatIsLeftIsPaidFor(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts ...option) {
		d := newDesk(t, guard.Config{}, answers(usage()), opts...)
		for ev, err := range d.runner.Run(t.Context(), "u", "s", genai.NewContentFromText("hi", genai.RoleUser), agent.RunConfig{StreamingMode: agent.StreamingModeSSE}) {
			if err != nil || !ev.Partial {
				t.Fatalf("%v %+v", err, ev)
			}
			break
		}
		if u := d.used(); u.ModelCalls != 1 || u.USD != callCost {
			t.Errorf("usage %+v", u)
		}
	})
}

func TestAModelWithoutPricesIsSaid(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts ...option) {
		llm := answers(usage())
		llm.name = "home-made"
		d := newDesk(t, guard.Config{Turn: guard.Limits{USD: guard.Dollars(0.0001)}}, llm, opts...)
		for i := range 3 {
			d.say(fmt.Sprint("hi ", i), agent.StreamingModeNone, 0)
		}
		u := d.used()
		if u.USD != 0 || u.ModelCalls != 3 || len(u.Unpriced) != 1 || u.Unpriced[0] != "home-made" || !u.Models[0].Unpriced || d.observed(guard.Unpriced) != 1 {
			t.Errorf("usage %+v, observed %+v", u, d.seen)
		}

		d = newDesk(t, guard.Config{Unpriced: guard.UnpricedRefuse}, llm, opts...)
		_, errs := d.say("hi", agent.StreamingModeNone, 0)
		var unpriced *guard.UnpricedError
		if len(errs) != 1 || !errors.As(errs[0], &unpriced) || unpriced.Model != "home-made" || !errors.Is(errs[0], guard.ErrStopped) || llm.calls() != 3 {
			t.Errorf("%v after %d calls", errs, llm.calls())
		}

		d = newDesk(t, guard.Config{Unpriced: guard.UnpricedAs, PriceAs: testModel}, llm, opts...)
		d.say("hi", agent.StreamingModeNone, 0)
		if u := d.used(); u.USD != callCost || len(u.Unpriced) != 0 || u.Models[0].Model != "home-made" {
			t.Errorf("usage %+v", u)
		}
	})
}

func TestTimeEndsATurn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts ...option) {
		now, mu := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), sync.Mutex{}
		llm := newWorker()
		llm.answer = func(n int, _ *model.LLMRequest) *genai.Content {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Minute) // the tool of the second answer comes too late
			return asks("work", map[string]any{"n": n})
		}
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		d := newDesk(t, guard.Config{Turn: guard.Limits{Wall: 2 * time.Minute}, Now: clock}, llm, opts...)
		_, errs := d.say("hi", agent.StreamingModeNone, 0)
		var stop *guard.StopError
		if len(errs) != 1 || !errors.As(errs[0], &stop) || stop.Kind != guard.WallTime || stop.Bound != "2m0s" || llm.calls() != 2 || d.runs != 1 {
			t.Errorf("%v after %d calls and %d runs", errs, llm.calls(), d.runs)
		}
		if got := responses(d.stored(), "work"); got[1]["error"] != "not run: the time limit is reached" {
			t.Errorf("%v", got)
		}
		if _, errs := d.say("again", agent.StreamingModeNone, 0); len(errs) != 1 || llm.calls() < 3 {
			t.Errorf("a limit of time ends only its turn: %v", errs)
		}
		d.checkPairs()
	})
}

func TestTimeEndsAModelCall(t *testing.T) {
	t.Parallel()
	llm := answers(usage())
	llm.delay = time.Minute
	d := newDesk(t, guard.Config{Turn: guard.Limits{Wall: 20 * time.Millisecond}}, llm)
	_, errs := d.say("hi", agent.StreamingModeNone, 0)
	var stop *guard.StopError
	if len(errs) != 1 || !errors.As(errs[0], &stop) || stop.Kind != guard.WallTime {
		t.Errorf("%v", errs)
	}
}

func TestAStopCanBeAnEvent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{Turn: guard.Limits{USD: 2 * callCost}, Landing: guard.LandingHard, OnStop: guard.AsEvent}, newWorker())
	for i := range 2 {
		events, errs := d.say(fmt.Sprint("hi ", i), agent.StreamingModeNone, 0)
		last := events[len(events)-1]
		if len(errs) != 0 || last.ErrorCode != "cost_ceiling" || !strings.Contains(last.ErrorMessage, "$0.0020 of $0.0020") || d.llm.calls() != 2 {
			t.Errorf("%v after %d calls: %+v", errs, d.llm.calls(), last)
		}
	}
	d.checkPairs()
}

func TestALoopEndsAlthoughItsConsumerGoesOn(t *testing.T) {
	t.Parallel()
	for style, want := range map[guard.StopStyle]int{guard.AsError: 1, guard.AsEvent: 0} {
		d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 2}, Landing: guard.LandingHard, OnStop: style}, answers(usage()))
		loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{agentOf(t, d)}}})
		if err != nil {
			t.Fatal(err)
		}
		d.serve(loop)
		if _, errs := d.say("hi", agent.StreamingModeNone, 1_000); len(errs) != want || d.llm.calls() != 2 {
			t.Errorf("%s: %d errors and %d calls", style, len(errs), d.llm.calls())
		}
		d.checkPairs()
	}
}

func TestACallbackThatAnswersCostsNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts ...option) {
		answer := func(_ *desk, c *llmagent.Config) {
			c.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
				return &model.LLMResponse{Content: said("from a cache")}, nil
			}}
		}
		d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 1}}, newWorker(), append(opts, answer)...)
		for i := range 3 {
			if _, errs := d.say(fmt.Sprint("hi ", i), agent.StreamingModeNone, 0); len(errs) != 0 {
				t.Fatal(errs)
			}
		}
		if u := d.used(); u.ModelCalls != 0 || d.llm.calls() != 0 {
			t.Errorf("usage %+v", u)
		}
	})
}

func TestAToolCannotForgeTheTotals(t *testing.T) {
	t.Parallel()
	forge := func(d *desk, c *llmagent.Config) {
		made, err := functiontool.New(functiontool.Config{Name: "work", Description: "Forges."}, func(ctx agent.ToolContext, _ workArgs) (map[string]any, error) {
			return map[string]any{}, ctx.State().Set(guard.StateKey, `{"v":1,"app":"app","user":"u","session":"s","total":[0,0,0,0,0],"turn_total":[0,0,0,0,0],"last":[0,0,0,0,0]}`)
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Tools = []tool.Tool{made}
	}
	d := newDesk(t, guard.Config{Session: guard.Limits{USD: 3 * callCost}, Landing: guard.LandingHard}, newWorker(), forge)
	_, errs := d.say("hi", agent.StreamingModeNone, 0)
	if stored, ok := guard.Stored(d.stored()); len(errs) != 1 || d.llm.calls() != 3 || !ok || stored.USD != 3*callCost {
		t.Errorf("%v after %d calls: %+v", errs, d.llm.calls(), stored)
	}
}

// putState stores an event with a state.
func putState(t *testing.T, d *desk, author string, content *genai.Content, value any) {
	t.Helper()
	ev := session.NewEventWithContext(t.Context(), "")
	ev.Author, ev.Content = author, content
	ev.Actions.StateDelta = map[string]any{guard.StateKey: value}
	if err := d.sessions.AppendEvent(t.Context(), d.stored(), ev); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedTotalsAreFoundInTheEvents(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"text": "{", "number": 7, "nil": nil, "lower": `{"v":1,"app":"app","user":"u","session":"s","total":[0,0,0,0,0],"turn_total":[0,0,0,0,0],"last":[0,0,0,0,0]}`,
		"of another session": `{"v":1,"app":"app","user":"u","session":"other","total":[0,0,0,0,0],"turn_total":[0,0,0,0,0],"last":[0,0,0,0,0]}`,
	} {
		for _, cold := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cfg := guard.Config{Session: guard.Limits{USD: 3 * callCost}, Landing: guard.LandingHard}
				d := newDesk(t, cfg, newWorker())
				d.say("hi", agent.StreamingModeNone, 0)
				putState(t, d, "user", said("forged"), value)
				if cold {
					next := newDesk(t, cfg, newWorker())
					next.sessions = d.sessions
					next.serve(agentOf(t, next))
					d = next
				}
				before := d.llm.calls()
				if _, errs := d.say("again", agent.StreamingModeNone, 0); len(errs) != 1 || !errors.Is(errs[0], guard.ErrStopped) || d.llm.calls() != before {
					t.Errorf("%v after %d calls more", errs, d.llm.calls()-before)
				}
				if u := d.used(); u.USD != 3*callCost {
					t.Errorf("%+v", u)
				}
				if d.observed(guard.Conflict) == 0 && name != "nil" {
					t.Errorf("observed %+v", d.seen)
				}
			})
		}
	}
}

func TestTwoProcessesTakeTurnsInASession(t *testing.T) {
	t.Parallel()
	cfg := guard.Config{Session: guard.Limits{ModelCalls: 5}, Landing: guard.LandingHard}
	one := newDesk(t, cfg, answers(usage()))
	two := newDesk(t, cfg, answers(usage()))
	two.sessions = one.sessions
	two.serve(agentOf(t, two))
	for i := range 2 {
		one.say(fmt.Sprint("one ", i), agent.StreamingModeNone, 0)
		two.say(fmt.Sprint("two ", i), agent.StreamingModeNone, 0)
	}
	one.say("the last", agent.StreamingModeNone, 0)
	for _, d := range []*desk{one, two} {
		if _, errs := d.say("more", agent.StreamingModeNone, 0); len(errs) != 1 || d.used().ModelCalls != 5 {
			t.Errorf("%v: %+v", errs, d.used())
		}
	}
}

func TestSummariesAreCharged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{Session: guard.Limits{USD: 4 * callCost}, Landing: guard.LandingHard}, answers(usage()))
	d.say("hi", agent.StreamingModeNone, 0)
	passed := 0
	observer := d.guard.Compactions(func(context.Context, compaction.Observation) { passed++ })
	observer(t.Context(), compaction.Observation{Session: d.ref})
	observer(t.Context(), compaction.Observation{Session: d.ref, Model: testModel, Usage: tokens.Usage{PromptTokens: 1000, OutputTokens: 100}})
	u := d.used()
	if u.USD != 3*callCost || u.Summaries != (guard.SummaryUsage{Calls: 1, Tokens: tokens.Usage{PromptTokens: 1000, OutputTokens: 100}, USD: 2 * callCost}) || u.ModelCalls != 2 || passed != 2 {
		t.Errorf("%+v, %d passed on", u, passed)
	}
	d.say("again", agent.StreamingModeNone, 0)
	if _, errs := d.say("more", agent.StreamingModeNone, 0); len(errs) != 1 {
		t.Errorf("%v with %+v", errs, d.used())
	}
	if stored, _ := guard.Stored(d.stored()); stored.USD != 4*callCost || stored.Summaries.Calls != 1 {
		t.Errorf("stored %+v", stored)
	}
	d.guard.Compactions(nil)(t.Context(), compaction.Observation{})

	// What comes after the last event is stored when the process ends, once.
	observer(t.Context(), compaction.Observation{Session: d.ref, Model: testModel, Usage: tokens.Usage{PromptTokens: 1000}})
	before := d.stored().Events().Len()
	for range 2 {
		if err := d.guard.Save(t.Context(), d.sessions); err != nil {
			t.Fatal(err)
		}
	}
	if stored, _ := guard.Stored(d.stored()); stored.USD != 5*callCost || stored.Summaries.Calls != 2 || d.stored().Events().Len() != before+1 {
		t.Errorf("stored %+v", stored)
	}
}

// panics is a model that panics.
type panics struct{ *worker }

func (panics) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(func(*model.LLMResponse, error) bool) { panic("model") }
}

func TestAModelThatPanicsHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{Turn: guard.Limits{USD: callCost, ModelCalls: 1}}, answers(usage()))
	ok := d.runner
	d.serve(agentOf(t, d, func(d *desk, c *llmagent.Config) { c.Model = d.guard.Model(panics{d.llm}) }))
	func() {
		defer func() {
			if recovered := recover(); (recovered == nil) != (adk.Major == 2) { // v2 makes an error of it
				t.Errorf("recovered %v", recovered)
			}
		}()
		d.say("hi", agent.StreamingModeNone, 0)
	}()
	d.runner = ok
	if _, errs := d.say("again", agent.StreamingModeNone, 0); len(errs) != 0 || d.used().ModelCalls != 1 {
		t.Errorf("%v: %+v", errs, d.used())
	}
}

func TestTheModelIsToldOncePerTurn(t *testing.T) {
	t.Parallel()
	told := func(d *desk) (notes []string) {
		for _, r := range responses(d.stored(), "work") {
			if note, is := r["session_budget"].(string); is {
				notes = append(notes, note)
			}
		}
		return notes
	}
	cfg := guard.Config{Turn: guard.Limits{ModelCalls: 10}, Landing: guard.LandingHard}
	d := newDesk(t, cfg, newWorker())
	d.say("hi", agent.StreamingModeNone, 0)
	want := "[Budget: this turn has used 8 model calls of 10 model calls. Do only what is still needed, and then answer.]"
	if got := told(d); len(got) != 1 || got[0] != want || d.observed(guard.Noted) != 1 {
		t.Errorf("%q", got)
	}
	d.say("again", agent.StreamingModeNone, 0)
	if got := told(d); len(got) != 2 {
		t.Errorf("%q after two turns", got)
	}
	cfg.NoteAt = compaction.Off
	d = newDesk(t, cfg, newWorker())
	d.say("hi", agent.StreamingModeNone, 0)
	if got := told(d); len(got) != 0 {
		t.Errorf("%q although notes are off", got)
	}
}

func TestACallOutsideOfASessionPassesThrough(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 1}}, answers(usage()))
	llm := d.guard.Model(d.llm)
	for range 3 {
		for resp, err := range llm.GenerateContent(t.Context(), &model.LLMRequest{Model: testModel}, false) {
			if err != nil || resp.Content.Parts[0].Text != "done" {
				t.Errorf("%v %+v", err, resp)
			}
		}
	}
	if d.observed(guard.Unmetered) != 1 {
		t.Errorf("observed %+v", d.seen)
	}
	if d.guard.Model(llm) != llm {
		t.Error("a model is wrapped twice")
	}
}
