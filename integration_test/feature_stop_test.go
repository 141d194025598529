package integration_test

import (
	"context"
	"testing"

	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The app leaves the loop over a turn's events after the first event, in the next turn after the
// second, and so on.
func TestAConsumerThatStopsAtAnyEventDoesNotSpoilTheNextTurns(t *testing.T) {
	t.Parallel()
	for i, played := range improvisations {
		t.Run(played.name, func(t *testing.T) {
			t.Parallel()
			takingTurns(t, i, []mode{synchronous, flushed, background, reopened}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(pressures[1].change))
				played.start(a)
				k := 0
				for stopped := true; stopped; {
					k++
					stopped = false
					before := slices.Clone(a.history)
					ctx, end := context.WithCancel(t.Context())
					a.interrupted(ctx, func(n int, _ *session.Event) bool {
						stopped = n == k
						return !stopped
					})
					end()
					a.checkKept(before)
				}
				if k < 6 {
					t.Errorf("a turn with only %d events", k-1)
				}
				a.verify(k)
			})
		})
	}
}
