package integration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// pricedModel is in the built-in table.
const pricedModel = "gemini-2.5-flash"

// callUsage is what a call of a tireless model uses, and callPrice what it costs.
var callUsage = tokens.Usage{PromptTokens: 1000, OutputTokens: 10}

func callPrice(t testing.TB) tokens.Nano {
	t.Helper()
	priced, known := tokens.Lookup(pricedModel)
	if !known || !priced.Priced() {
		t.Fatalf("%s has no price", pricedModel)
	}
	return priced.Nanos(callUsage)
}

// bound is a limit that a number of calls reaches.
type bound struct {
	kind   guard.Kind
	limits func(t testing.TB, calls int) guard.Limits
}

func bounds() []bound {
	return []bound{
		{guard.CostCeiling, func(t testing.TB, calls int) guard.Limits {
			t.Helper()
			return guard.Limits{USD: callPrice(t) * tokens.Nano(calls)}
		}},
		{guard.ModelCalls, func(_ testing.TB, calls int) guard.Limits { return guard.Limits{ModelCalls: calls} }},
		{guard.TokenLimit, func(_ testing.TB, calls int) guard.Limits {
			return guard.Limits{Tokens: calls * (callUsage.PromptTokens + callUsage.OutputTokens)}
		}},
	}
}

// guardOf returns a guard, which no test lets write into the log.
func guardOf(t testing.TB, cfg guard.Config) *guard.Guard {
	t.Helper()
	g, err := guard.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// guardedRunner returns a runner whose agents' models and whose plugin belong to the guard.
func guardedRunner(t *testing.T, service session.Service, s guardShape, llm *tireless, g *guard.Guard) *runner.Runner {
	t.Helper()
	return runnerOf(t, service, s.build(t, g.Model(llm), pinTool(t, "look", nil)), g.Plugin())
}

// stopOf returns the stop that a turn ended with.
func stopOf(p played) *guard.StopError {
	var stop *guard.StopError
	errors.As(p.err(), &stop)
	return stop
}

// overlapping lets calls of parallel agents overlap.
func overlapping(_ context.Context, _ int) error {
	time.Sleep(200 * time.Microsecond)
	return nil
}

// No shape of agents makes a call above a bound, and every call up to it is made, because the last answer
// without tools is off. The stop has its type, and the next run is refused, where a bound outlasts the turn.
func TestNoModelCallStartsAboveABound(t *testing.T) {
	t.Parallel()
	const calls = 24
	for _, s := range share(t, 4, guardShapes()) {
		for _, b := range bounds() {
			for _, scope := range []guard.Scope{guard.ScopeTurn, guard.ScopeSession} {
				// A consumer that goes on after errors, and one that stops at the first.
				for _, patience := range []int{0, 30} {
					t.Run(fmt.Sprintf("%s, %s, %s, patience %d", s.name, b.kind, scope, patience), func(t *testing.T) {
						t.Parallel()
						cfg := guard.Config{Landing: guard.LandingHard, NoteAt: compaction.Off}
						if scope == guard.ScopeTurn {
							cfg.Turn = b.limits(t, calls)
						} else {
							cfg.Session = b.limits(t, calls)
						}
						g, service, llm := guardOf(t, cfg), session.InMemoryService(), &tireless{name: pricedModel, during: overlapping}
						r := guardedRunner(t, service, s, llm, g)
						p := guardedTurn(t, t.Context(), r, ref, s.runConfig(), patience)
						checkStop(t, stopOf(p), b.kind, scope)
						if n := llm.count(); n != calls {
							t.Errorf("%d model calls, want %d: %v", n, calls, llm.byAgent())
						}
						if len(p.errs) > 1+patience/10 {
							t.Errorf("the turn went on for %d errors", len(p.errs))
						}
						checkUsage(t, g, service, llm)
						checkNextRun(t, g, service, r, llm, s, scope == guard.ScopeSession || b.kind == guard.CostCeiling)
					})
				}
			}
		}
	}
}

func checkStop(t *testing.T, stop *guard.StopError, kind guard.Kind, scope guard.Scope) {
	t.Helper()
	if stop == nil || stop.Kind != kind || stop.Scope != scope || stop.Retryable || stop.Spent == "" || stop.Bound == "" {
		t.Errorf("the turn ends with %+v, want %s of the %s", stop, kind, scope)
	}
}

// checkUsage compares the ledger with what the model has charged.
func checkUsage(t *testing.T, g *guard.Guard, service session.Service, llm *tireless) {
	t.Helper()
	used, err := g.Usage(t.Context(), service, ref)
	if err != nil {
		t.Fatal(err)
	}
	n := llm.count()
	want := tokens.Usage{PromptTokens: n * callUsage.PromptTokens, OutputTokens: n * callUsage.OutputTokens}
	if used.ModelCalls != n || used.USD != callPrice(t)*tokens.Nano(n) || used.Tokens != want {
		t.Errorf("counted are %d calls, %v and %+v, want %d, %v and %+v", used.ModelCalls, used.USD, used.Tokens, n, callPrice(t)*tokens.Nano(n), want)
	}
	if len(used.Models) != 1 || used.Models[0].Model != pricedModel || used.Models[0].Calls != n || used.Models[0].USD != used.USD || len(used.Unpriced) > 0 {
		t.Errorf("by model: %+v, unpriced %v", used.Models, used.Unpriced)
	}
}

// checkNextRun checks that the next run is refused without a trace, or runs.
func checkNextRun(t *testing.T, g *guard.Guard, service session.Service, r *runner.Runner, llm *tireless, s guardShape, refused bool) {
	t.Helper()
	before, stored := llm.count(), getBare(t, service).Events().Len()
	llm.says = func(string, int, *modelRequest) *modelResponse { return compactiontest.Say("Done.") }
	if strings.HasPrefix(s.name, "loop") {
		llm.says = nil // it never ends
	}
	p := guardedTurn(t, t.Context(), r, ref, s.runConfig(), 0)
	calls, events := llm.count()-before, getBare(t, service).Events().Len()-stored
	if refused && (stopOf(p) == nil || calls > 0 || events > 0) {
		t.Errorf("the next run ends with %v after %d calls, %d events are stored", p.err(), calls, events)
	}
	if !refused && (calls == 0 || events == 0 || p.err() != nil && llm.says != nil) {
		t.Errorf("the next run ends with %v after %d calls, %d events are stored", p.err(), calls, events)
	}
	used, err := g.Usage(t.Context(), service, ref)
	if err != nil || refused != (used.Stopped != nil) && llm.says != nil {
		t.Errorf("refused %v, and the usage says %v (%v)", refused, used.Stopped, err)
	}
	checkStored(t, getBare(t, service))
}

// checkStored checks that a session has each message of the user once, and in the next request no call
// without its response.
func checkStored(t *testing.T, sess session.Session) {
	t.Helper()
	asked := map[string]int{}
	var open []string
	for ev := range sess.Events().All() {
		if ev.Author == "user" && ev.Content != nil && len(requests.Responses(ev.Content)) == 0 {
			asked[ev.InvocationID]++
		}
		for _, call := range requests.Calls(ev.Content) {
			open = append(open, call.ID)
		}
		for _, response := range requests.Responses(ev.Content) {
			open = slices.DeleteFunc(open, func(id string) bool { return id == response.ID })
		}
	}
	for invocation, n := range asked {
		if n > 1 {
			t.Errorf("the message of %s is stored %d times", invocation, n)
		}
	}
	if len(open) > 0 {
		t.Errorf("%d calls are not answered: %v", len(open), open)
	}
}

// With the last answer on, a turn ends with an answer or with a typed stop, and never above the bound.
func TestTheLastCallUnderABoundIsAnAnswer(t *testing.T) {
	t.Parallel()
	const calls = 24
	for _, s := range share(t, 3, guardShapes()) {
		for _, b := range bounds() {
			t.Run(fmt.Sprintf("%s, %s", s.name, b.kind), func(t *testing.T) {
				t.Parallel()
				g, service, llm := guardOf(t, guard.Config{Turn: b.limits(t, calls)}), session.InMemoryService(), &tireless{name: pricedModel, during: overlapping}
				r := guardedRunner(t, service, s, llm, g)
				p := guardedTurn(t, t.Context(), r, ref, s.runConfig(), 0)
				if n := llm.count(); n > calls || n < calls-8 {
					t.Errorf("%d model calls, the bound is %d", n, calls)
				}
				if p.err() != nil {
					checkStop(t, stopOf(p), b.kind, guard.ScopeTurn)
				} else if last := p.events[len(p.events)-1]; !last.IsFinalResponse() || len(last.Content.Parts) == 0 || last.Content.Parts[0].Text == "" {
					t.Errorf("the turn ends with %s", canonical(last.Content))
				}
				if s.name == "single" && (p.err() != nil || llm.count() != calls && b.kind == guard.ModelCalls) {
					t.Errorf("after %d calls the turn ends with %v, and not with an answer", llm.count(), p.err())
				}
				off := 0
				for _, req := range llm.requests {
					if tc := req.Config.ToolConfig; tc != nil && tc.FunctionCallingConfig != nil && tc.FunctionCallingConfig.Mode == genai.FunctionCallingConfigModeNone {
						off++
					}
				}
				if off == 0 {
					t.Error("no call went without tools")
				}
				checkUsage(t, g, service, llm)
				checkStored(t, getBare(t, service))
			})
		}
	}
}

// A guard without limits, and a ledger that is only kept, change nothing in any request.
func TestAGuardWithoutLimitsChangesNoRequest(t *testing.T) {
	t.Parallel()
	for _, s := range guardShapes() {
		if strings.HasPrefix(s.name, "loop") || strings.HasPrefix(s.name, "agent tools, parallel") {
			continue // it has no end, or its experts are asked in any order
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			seen := map[bool][]string{}
			for _, guarded := range []bool{false, true} {
				llm, service := &tireless{name: pricedModel}, session.InMemoryService()
				llm.says = func(_ string, own int, _ *modelRequest) *modelResponse {
					if own >= 6 {
						return compactiontest.Say("Done.")
					}
					return nil
				}
				var r *runner.Runner
				if guarded {
					r = guardedRunner(t, service, s, llm, guardOf(t, guard.Config{}))
				} else {
					r = runnerOf(t, service, s.build(t, llm, pinTool(t, "look", nil)))
				}
				for range 3 {
					if p := guardedTurn(t, t.Context(), r, ref, s.runConfig(), 0); p.err() != nil {
						t.Fatal(p.err())
					}
				}
				for _, req := range llm.requests {
					seen[guarded] = append(seen[guarded], canonical(req.Contents)+canonical(req.Config))
				}
				slices.Sort(seen[guarded]) // parallel agents come in any order
			}
			if len(seen[true]) < 3 || !slices.Equal(seen[true], seen[false]) {
				t.Errorf("%d requests with a guard are not the %d without", len(seen[true]), len(seen[false]))
			}
		})
	}
}

// Two turns at once, each in a session of its own, with agents that run as tools.
func TestSessionsNeverPayForEachOther(t *testing.T) {
	t.Parallel()
	for _, s := range guardShapes() {
		if !s.nested && s.name != "parallel" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			service := session.InMemoryService()
			const calls = 30
			g := guardOf(t, guard.Config{Session: guard.Limits{ModelCalls: calls}, Landing: guard.LandingHard})
			type outcome struct {
				stop *guard.StopError
				llm  *tireless
			}
			outcomes := make(chan outcome)
			const sessions = 4
			for i := range sessions {
				llm := &tireless{name: pricedModel, during: overlapping}
				r := guardedRunner(t, service, s, llm, g)
				of := ref
				of.SessionID = fmt.Sprint("session", i)
				go func() {
					outcomes <- outcome{stopOf(guardedTurn(t, t.Context(), r, of, agent.RunConfig{}, 0)), llm}
				}()
			}
			for range sessions {
				o := <-outcomes
				if n := o.llm.count(); n != calls {
					t.Errorf("%d calls, want %d", n, calls)
				}
				checkStop(t, o.stop, guard.ModelCalls, guard.ScopeSession)
			}
			for i := range sessions {
				of := ref
				of.SessionID = fmt.Sprint("session", i)
				if used, err := g.Usage(t.Context(), service, of); err != nil || used.ModelCalls != calls {
					t.Errorf("session %d has %d calls (%v)", i, used.ModelCalls, err)
				}
			}
		})
	}
}
