package integration_test

import (
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// While a turn is at its first step, another run on the same session takes a whole turn with its
// compactions. In the next turn this happens at the second step, and so on. ADK's database service
// may refuse to continue the first turn, as it does without the service.
func TestAWholeTurnInTheMidstOfAnotherLosesNothing(t *testing.T) {
	t.Parallel()
	for _, played := range improvisations[:2] {
		t.Run(played.name, func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, background}, func(t *testing.T, store storages.Storage, m mode) {
				s := &steps{}
				var a *app
				k, inner := 0, 0
				var yielded []*session.Event
				for reached := true; reached; {
					if k%sweep == 0 {
						a = interleavedApp(t, store, m, s)
						played.start(a)
						a.forgetful, yielded = true, nil // a handle does not see the events that others append
					}
					k++
					s.arm(k, func() {
						events, err := a.runBeside(t)
						if err != nil {
							t.Errorf("step %d: the turn in the midst of another: %v", k, err)
						}
						inner += len(events)
						yielded = append(yielded, events...)
					})
					events, err := runTurn(t, a.runner, a.nextQuestion())
					if err != nil && (store.Name != "database" || !strings.Contains(err.Error(), "stale session")) {
						t.Errorf("step %d: %v", k, err)
					}
					yielded = append(yielded, events...)
					reached = s.disarm()
					for range 2 {
						events, err := runTurn(t, a.runner, a.nextQuestion())
						if err != nil {
							t.Errorf("after step %d: %v", k, err)
						}
						yielded = append(yielded, events...)
					}
					if !reached || k%sweep == 0 {
						a.flush()
						a.checkAcknowledged(yielded)
					}
				}
				if k < 10 || inner < 3*(k-1) {
					t.Errorf("%d steps, %d events of turns in the midst of others", k-1, inner)
				}
			})
		})
	}
}

// interleavedApp is an app in which a turn can begin during any append or tool call of another
// turn.
func interleavedApp(t *testing.T, store storages.Storage, m mode, s *steps) *app {
	t.Helper()
	a := newApp(t, store.Anew(t), m, withConfig(pressures[1].change))
	a.above = func(service session.Service) session.Service { return steppingService{service, s, false} }
	a.inTool = func() { s.step("tool") }
	return a
}

// runBeside runs a turn while another one waits.
func (a *app) runBeside(t *testing.T) ([]*session.Event, error) {
	waiting := a.question
	defer func() { a.question = waiting }()
	return runTurn(t, a.runner, a.nextQuestion())
}

func (a *app) nextQuestion() string {
	fact := compactiontest.Fact(a.ledger.number())
	a.turns++
	a.question = "Another question: what about " + fact + "?"
	return a.question
}
