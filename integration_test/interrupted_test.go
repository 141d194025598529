package integration_test

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The app breaks out of the loop over a turn's events after the call or after its response. This
// leaves a call that will never be answered.
func TestAConsumerThatStopsEarlyDoesNotSpoilTheNextTurns(t *testing.T) {
	t.Parallel()
	for stop := 1; stop <= 3; stop++ {
		t.Run(fmt.Sprintf("after %d events", stop), func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a, x := interruptible(t, store, m)
				a.chat(x, 6)
				for range 3 {
					x.will(a.lookups(1), a.lookups(2), answer())
					a.interrupted(t.Context(), func(n int, _ *session.Event) bool { return n < stop })
					a.chat(x, 2)
				}
				a.chat(x, 12)
				a.compactAll()
				a.chat(x, 1)
				a.verify(3)
			})
		})
	}
}

// The context ends while a tool runs or while the model answers. The stored events of the turn
// stay.
func TestACanceledTurnDoesNotSpoilTheNextTurns(t *testing.T) {
	t.Parallel()
	for _, inTool := range []bool{true, false} {
		t.Run(fmt.Sprintf("in a tool %t", inTool), func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a, x := interruptible(t, store, m)
				a.chat(x, 6)
				for range 3 {
					ctx, cancel := context.WithCancel(t.Context())
					if inTool {
						a.inTool = cancel
						x.will(a.lookups(1), answer())
					} else {
						x.will(a.lookups(1))
						x.willDo(func(*model.LLMRequest) *model.LLMResponse {
							cancel()
							return answer()
						})
					}
					a.interrupted(ctx, func(int, *session.Event) bool { return true })
					cancel()
					a.inTool = nil
					a.chat(x, 2)
				}
				a.chat(x, 12)
				a.compactAll()
				a.chat(x, 1)
				a.verify(3)
			})
		})
	}
}

func interruptible(t *testing.T, store storages.Storage, m mode) (*app, *actor) {
	t.Helper()
	a := newApp(t, store, m)
	x := newActor(a, "assistant", "")
	a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
	return a, x
}

// interrupted runs a turn that may end anywhere, and then takes storage as the expected history.
func (a *app) interrupted(ctx context.Context, goOn func(n int, ev *session.Event) bool) {
	a.t.Helper()
	a.interruptedIn(ctx, goOn, func() {})
}

// interruptedIn is interrupted with a function that runs before storage is read.
func (a *app) interruptedIn(ctx context.Context, goOn func(n int, ev *session.Event) bool, then func()) {
	a.t.Helper()
	fact := compactiontest.Fact(a.ledger.number())
	a.ledger.nextTurn()
	a.ledger.tell(fact, "", "user")
	a.turns++
	a.question = fmt.Sprintf("Question %d: the code is %s; this will be interrupted.", a.turns, fact)
	n := 0
	for ev, err := range a.runner.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText(a.question, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			break
		}
		if n++; !goOn(n, ev) {
			break
		}
	}
	for _, x := range a.actors {
		x.unplayed()
	}
	then()
	raw := withoutRecords(a.raw())
	a.ledger.keepStored(raw)
	a.history = nil
	for _, ev := range raw {
		s := storedEvent(ev)
		if ev.Author == "user" {
			s.ID = ""
		}
		a.history = append(a.history, s)
	}
}
