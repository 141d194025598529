package guard_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// responses returns the responses of the stored calls of a tool, oldest first.
func responses(s session.Session, name string) (out []map[string]any) {
	for ev := range s.Events().All() {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionResponse != nil && p.FunctionResponse.Name == name {
				out = append(out, p.FunctionResponse.Response)
			}
		}
	}
	return out
}

func TestATurnStopsAtTheCallThatReachesItsCostCeiling(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		for _, wrapped := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var opts []option
				if !wrapped {
					opts = append(opts, bare)
				}
				d := newDesk(t, guard.Config{Turn: guard.Limits{USD: 8 * callCost}, Landing: guard.LandingHard}, newWorker(), opts...)
				_, errs := d.say("hi", mode, 0)
				var stop *guard.StopError
				if len(errs) != 1 || !errors.As(errs[0], &stop) || !errors.Is(errs[0], guard.ErrStopped) {
					t.Fatalf("errors %v", errs)
				}
				want := guard.StopError{Kind: guard.CostCeiling, Scope: guard.ScopeTurn, Spent: "$0.0080", Bound: "$0.0080"}
				if *stop != want {
					t.Errorf("%+v, want %+v", *stop, want)
				}
				if d.llm.calls() != 8 || d.runs != 7 {
					t.Errorf("%d calls and %d runs of the tool", d.llm.calls(), d.runs)
				}
				if got := responses(d.stored(), "work"); got[len(got)-1]["error"] != "not run: the cost ceiling is reached" {
					t.Errorf("the last call was answered with %v", got[len(got)-1])
				}
				d.checkPairs()
				u := d.used()
				if u.USD != 8*callCost || u.ModelCalls != 8 || u.Tokens != (tokens.Usage{PromptTokens: 4000, OutputTokens: 400}) || u.Turn.USD != u.USD || u.Stopped == nil || *u.Stopped != want {
					t.Errorf("usage %+v", u)
				}

				// The next run is refused without a call, and its message is not stored.
				before := d.stored().Events().Len()
				_, errs = d.say("again", mode, 0)
				if len(errs) != 1 || !errors.As(errs[0], &stop) || *stop != want || d.llm.calls() != 8 || d.stored().Events().Len() != before {
					t.Errorf("%v after %d calls, %d events more", errs, d.llm.calls(), d.stored().Events().Len()-before)
				}
				if d.observed(guard.Tripped) != 1 || d.observed(guard.Refused) != 2 {
					t.Errorf("observations %v", d.seen)
				}

				// A reset lets it go on: another turn of the same size.
				if err := d.guard.Reset(t.Context(), d.sessions, d.ref, guard.ResetOptions{}); err != nil {
					t.Fatal(err)
				}
				_, errs = d.say("go on", mode, 0)
				if u := d.used(); len(errs) != 1 || d.llm.calls() != 16 || u.USD != 16*callCost || u.Turn.USD != 8*callCost {
					t.Errorf("%v after %d calls: %+v", errs, d.llm.calls(), u)
				}
				d.checkPairs()
			})
		}
	}
}

func TestAStoppedSessionSurvivesTheProcess(t *testing.T) {
	t.Parallel()
	cfg := guard.Config{Session: guard.Limits{USD: 3 * callCost}, Landing: guard.LandingHard}
	d := newDesk(t, cfg, newWorker())
	d.say("hi", agent.StreamingModeNone, 0)
	snapshot, err := d.stored().State().Get(guard.StateKey)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := guard.Decode(snapshot)
	if err != nil || decoded.Session != d.ref || decoded.Usage.USD != 3*callCost || decoded.Usage.Stopped == nil || decoded.Usage.Stopped.Scope != guard.ScopeSession {
		t.Fatalf("%v: %+v", err, decoded)
	}

	later := newDesk(t, cfg, newWorker())
	later.sessions = d.sessions
	later.serve(agentOf(t, later))
	before := d.stored().Events().Len()
	_, errs := later.say("go on", agent.StreamingModeNone, 0)
	if len(errs) != 1 || !errors.Is(errs[0], guard.ErrStopped) || later.llm.calls() != 0 || later.stored().Events().Len() != before {
		t.Errorf("%v after %d calls", errs, later.llm.calls())
	}

	// Not enough is refused, and says what is missing.
	var short *guard.ResetError
	if err := later.guard.Reset(t.Context(), later.sessions, later.ref, guard.ResetOptions{}); !errors.As(err, &short) || short.Missing.AddUSD != tokens.Cent || !strings.HasSuffix(err.Error(), "add AddUSD: guard.Dollars(0.01) or more, or configure a higher limit") {
		t.Errorf("reset: %v", err)
	}
	if got := later.stored().Events().Len(); got != before {
		t.Errorf("%d events after a reset that does nothing, not %d", got, before)
	}
	if err := later.guard.Reset(t.Context(), later.sessions, later.ref, guard.ResetOptions{AddUSD: 2 * callCost}); err != nil {
		t.Fatal(err)
	}
	_, errs = later.say("go on", agent.StreamingModeNone, 0)
	if u := later.used(); len(errs) != 1 || later.llm.calls() != 2 || u.USD != 5*callCost || u.Granted.USD != 2*callCost {
		t.Errorf("%v after %d calls: %+v", errs, later.llm.calls(), u)
	}
	later.checkPairs()
}

// Limits are those of a session. One that was deleted must not stop another that is created under its ID, whichever
// process deleted it.
func TestASessionCreatedAgainPaysNothingOfTheFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{Session: guard.Limits{USD: 3 * callCost}, Landing: guard.LandingHard}, newWorker())
	for n := range 3 {
		if _, errs := d.say("hi", agent.StreamingModeNone, 0); len(errs) != 1 || d.llm.calls() != 3*(n+1) {
			t.Fatalf("session %d: %v after %d calls", n, errs, d.llm.calls())
		}
		if u := d.used(); u.USD != 3*callCost || u.Stopped == nil {
			t.Errorf("session %d: %+v", n, u)
		}
		if _, errs := d.say("again", agent.StreamingModeNone, 0); len(errs) != 1 || d.llm.calls() != 3*(n+1) {
			t.Fatalf("session %d goes on: %v after %d calls", n, errs, d.llm.calls())
		}
		if err := d.sessions.Delete(t.Context(), &session.DeleteRequest{AppName: d.ref.AppName, UserID: d.ref.UserID, SessionID: d.ref.SessionID}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.sessions.Create(t.Context(), &session.CreateRequest{AppName: d.ref.AppName, UserID: d.ref.UserID, SessionID: d.ref.SessionID}); err != nil {
			t.Fatal(err)
		}
	}
	if d.observed(guard.Conflict) != 0 {
		t.Errorf("observations %v", d.seen)
	}
}

func TestTheLastCallBeforeABoundAnswersWithoutTools(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]guard.Limits{
		"calls": {ModelCalls: 5}, "usd": {USD: 5*callCost + callCost/4}, "tokens": {Tokens: 5*550 + 10},
	} {
		for _, wrapped := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var opts []option
				if !wrapped {
					opts = append(opts, bare)
				}
				d := newDesk(t, guard.Config{Turn: limits}, newWorker(), opts...)
				events, errs := d.say("hi", agent.StreamingModeNone, 0)
				if len(errs) != 0 || d.llm.calls() != 5 || events[len(events)-1].Content.Parts[0].Text != "done" {
					t.Fatalf("%v after %d calls", errs, d.llm.calls())
				}
				last := d.llm.requests[4]
				if !toolsOff(last) || len(last.Config.Tools) == 0 || toolsOff(d.llm.requests[3]) {
					t.Errorf("the last request: %+v", last.Config)
				}
				got := responses(d.stored(), "work")
				note, _ := got[3]["session_budget"].(string)
				if !strings.HasPrefix(note, "[Budget: this turn has used ") || !strings.HasSuffix(note, "answer now with what you have; say what is unfinished.]") {
					t.Errorf("the last result says %q", note)
				}
				if _, told := got[2]["session_budget"]; told && name != "calls" {
					t.Errorf("results: %v", got)
				}
				if d.observed(guard.Landed) != 1 {
					t.Errorf("observations: %v", d.seen)
				}
				d.checkPairs()
			})
		}
	}
}

func TestAModelThatDisobeysIsCutOff(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = func(n int, _ *model.LLMRequest) *genai.Content { return asks("work", map[string]any{"n": n}) }
	d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 3}}, llm)
	events, errs := d.say("hi", agent.StreamingModeNone, 0)
	last := events[len(events)-1].Content.Parts
	if len(errs) != 0 || llm.calls() != 3 || len(last) != 1 || last[0].Text != "[Stopped: the limit of model calls is reached. The work is unfinished.]" {
		t.Errorf("%v after %d calls: %+v", errs, llm.calls(), last[0])
	}
	d.checkPairs()
}
