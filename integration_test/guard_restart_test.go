package integration_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// exporting is ADK's in-memory service of an app that keeps the state of its sessions elsewhere, and creates
// them anew with it.
func exporting(t *testing.T) storages.Storage {
	t.Helper()
	var last session.Service
	return storages.Holding("inmemory", session.InMemoryService).Wrapped(func(session.Service) session.Service {
		service := session.InMemoryService()
		if last != nil {
			state := map[string]any{}
			resp, err := last.Get(t.Context(), getRequest())
			if err != nil {
				t.Fatal(err)
			}
			maps.Insert(state, resp.Session.State().All())
			if _, err := service.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID, State: state}); err != nil {
				t.Fatal(err)
			}
		}
		last = service
		return service
	})
}

// A stop outlasts the process, wherever the session lies, and only a reset that adds enough resumes it.
func TestAStopOutlastsTheProcessUntilAReset(t *testing.T) {
	t.Parallel()
	const calls = 12
	for _, store := range append(storages.All(t), exporting(t)) {
		for _, b := range bounds() {
			for _, scope := range []guard.Scope{guard.ScopeTurn, guard.ScopeSession} {
				if scope == guard.ScopeTurn && b.kind != guard.CostCeiling {
					continue // ends with its turn
				}
				store := store
				if store.Name != "inmemory" {
					store = store.Anew(t)
				} else {
					store = exporting(t)
				}
				t.Run(fmt.Sprintf("%s, %s, %s", store.Name, b.kind, scope), func(t *testing.T) {
					t.Parallel()
					cfg := guard.Config{Landing: guard.LandingHard}
					if scope == guard.ScopeTurn {
						cfg.Turn = b.limits(t, calls)
					} else {
						cfg.Session = b.limits(t, calls)
					}
					stopAndResume(t, store, b, cfg, scope, calls)
				})
			}
		}
	}
}

func stopAndResume(t *testing.T, store storages.Storage, b bound, cfg guard.Config, scope guard.Scope, calls int) {
	t.Helper()
	single := guardShapes()[0]
	llm := &tireless{name: pricedModel}
	// open is another process: a service and a guard of its own.
	open := func() (session.Service, *guard.Guard, func() played) {
		service, g := store.Open(t), guardOf(t, cfg)
		r := guardedRunner(t, service, single, llm, g)
		return service, g, func() played { return guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0) }
	}
	service, _, turn := open()
	checkStop(t, stopOf(turn()), b.kind, scope)
	events := getBare(t, service).Events().Len()
	for i := range 3 {
		service, _, turn = open()
		if i == 0 && store.Name == "inmemory" {
			events = 0 // only the state was kept
		}
		for range 2 {
			p := turn()
			checkStop(t, stopOf(p), b.kind, scope)
			if !errors.Is(p.err(), guard.ErrStopped) {
				t.Errorf("%v is not ErrStopped", p.err())
			}
			if n := getBare(t, service).Events().Len(); llm.count() != calls || n != events {
				t.Fatalf("process %d: %d model calls, %d events, want %d and %d", i, llm.count(), n, calls, events)
			}
		}
	}
	service, g, turn := open()
	if scope == guard.ScopeSession {
		// Nothing is added, so the session would stop again at once.
		if err := g.Reset(t.Context(), service, ref, guard.ResetOptions{}); err == nil {
			t.Error("a reset that adds nothing succeeds")
		}
		checkStop(t, stopOf(turn()), b.kind, scope)
	}
	const more = 5
	opts, want := guard.ResetOptions{}, calls+more
	switch {
	case scope == guard.ScopeTurn:
		want = 2 * calls // the next turn has the whole limit
	case b.kind == guard.CostCeiling:
		opts.AddUSD = callPrice(t) * more
	case b.kind == guard.ModelCalls:
		opts.AddModelCalls = more
	default:
		opts.AddTokens = more * (callUsage.PromptTokens + callUsage.OutputTokens)
	}
	if err := g.Reset(t.Context(), service, ref, opts); err != nil {
		t.Fatal(err)
	}
	service, g, turn = open()
	if p := turn(); stopOf(p) == nil {
		t.Errorf("after a reset the turn ends with %v", p.err())
	}
	checkUsage(t, g, service, llm)
	if llm.count() != want {
		t.Errorf("%d model calls, want %d", llm.count(), want)
	}
	service, _, turn = open()
	checkStop(t, stopOf(turn()), b.kind, scope)
	if llm.count() != want {
		t.Errorf("%d model calls after a second stop, want %d", llm.count(), want)
	}
	checkStored(t, getBare(t, service))
}

// Each takes a turn of three calls in turn, with a guard and a service of its own.
func TestTwoProcessesAlternateOnOneSession(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			const calls = 20
			cfg := guard.Config{Session: guard.Limits{USD: callPrice(t) * calls}, Landing: guard.LandingHard}
			llm := &tireless{name: pricedModel, says: func(_ string, own int, _ *modelRequest) *modelResponse {
				if own%3 == 2 {
					return compactiontest.Say("Done.")
				}
				return nil
			}}
			type process struct {
				service session.Service
				guard   *guard.Guard
				turn    func() played
			}
			var processes []process
			for range 2 {
				service, g := store.Open(t), guardOf(t, cfg)
				r := guardedRunner(t, service, guardShapes()[0], llm, g)
				processes = append(processes, process{service, g, func() played { return guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0) }})
			}
			for i := range calls {
				p := processes[i%2].turn()
				if p.err() == nil {
					checkUsage(t, processes[i%2].guard, processes[i%2].service, llm)
					continue
				}
				checkStop(t, stopOf(p), guard.CostCeiling, guard.ScopeSession)
			}
			if llm.count() != calls {
				t.Errorf("%d model calls, want %d", llm.count(), calls)
			}
			checkUsage(t, guardOf(t, cfg), processes[0].service, llm)
		})
	}
}

// A tool, an app or a peer writes into the state. What is stored afterwards is the truth, and a damaged state
// is never an empty one.
func TestForgedAndDamagedTotalsChangeNothing(t *testing.T) {
	t.Parallel()
	forgeries := map[string]any{
		"nothing": "", "null": nil, "number": 0, "no JSON": "{", "empty": "{}", "list": []any{}, "map": map[string]any{"usd": 0},
		"other version": `{"v":999}`, "huge": strings.Repeat("9", 1<<16), "negative": `{"v":1,"usd":-1000000000000,"nano":-1000000000000,"calls":-5}`,
	}
	for name, forged := range forgeries {
		for _, by := range []string{"tool", "event", "old snapshot"} {
			if by == "old snapshot" && name != "nothing" {
				continue
			}
			t.Run(name+" by "+by, func(t *testing.T) {
				t.Parallel()
				const calls = 12
				service, cfg := session.InMemoryService(), guard.Config{Session: guard.Limits{USD: callPrice(t) * calls}, Landing: guard.LandingHard}
				llm := &tireless{name: pricedModel, says: func(_ string, own int, _ *modelRequest) *modelResponse {
					if own%4 == 3 {
						return compactiontest.Say("Done.")
					}
					return nil
				}}
				var first any
				for i := range 8 {
					g := guardOf(t, cfg) // a process of its own
					look := stateTool(t, func(state session.State) {
						value := forged
						if by == "old snapshot" {
							value = first
						}
						if by == "event" || value == nil && by == "old snapshot" {
							return
						}
						if err := state.Set(guard.StateKey, value); err != nil {
							t.Error(err)
						}
					})
					r := runnerOf(t, service, guardShapes()[0].build(t, g.Model(llm), look), g.Plugin())
					p := guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0)
					if i < 3 {
						if p.err() != nil && llm.count() < calls {
							t.Fatalf("turn %d: %v", i, p.err())
						}
					} else {
						checkStop(t, stopOf(p), guard.CostCeiling, guard.ScopeSession)
					}
					sess := getBare(t, service)
					if stored, err := sess.State().Get(guard.StateKey); i == 0 && err == nil {
						first = stored
					}
					if by == "event" {
						plantState(t, service, sess, forged)
					}
				}
				if llm.count() != calls {
					t.Errorf("%d model calls, want %d", llm.count(), calls)
				}
				checkUsage(t, guardOf(t, cfg), service, llm)
			})
		}
	}
}

// plantState stores an event that changes the ledger's state, as an app may.
func plantState(t *testing.T, service session.Service, sess session.Session, value any) {
	t.Helper()
	ev := session.NewEventWithContext(t.Context(), "planted")
	ev.Author, ev.Actions.StateDelta = "app", map[string]any{guard.StateKey: value}
	if err := service.AppendEvent(t.Context(), sess, ev); err != nil {
		t.Fatal(err)
	}
}

// The price of one call is above the ceiling: one call is made, because its price is not known before.
func TestACeilingBelowThePriceOfOneCall(t *testing.T) {
	t.Parallel()
	for _, landing := range []guard.LandingMode{guard.LandingSoft, guard.LandingHard} {
		g, service, llm := guardOf(t, guard.Config{Session: guard.Limits{USD: guard.Dollars(0.0001)}, Landing: landing}), session.InMemoryService(), &tireless{name: pricedModel}
		r := guardedRunner(t, service, guardShapes()[0], llm, g)
		p := guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0)
		if llm.count() != 1 || p.err() != nil && stopOf(p) == nil {
			t.Errorf("%s: %d calls, %v", landing, llm.count(), p.err())
		}
		if p = guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0); llm.count() != 1 {
			t.Errorf("%s: %d calls after a second turn", landing, llm.count())
		}
		checkStop(t, stopOf(p), guard.CostCeiling, guard.ScopeSession)
		checkStored(t, getBare(t, service))
	}
}
