package telemetry

import (
	"context"
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// An observer that causes an observation gets it after it has returned, and a session that nothing
// is reported about takes up no memory.
func TestObservationsOfASessionAreInOrder(t *testing.T) {
	t.Parallel()
	var seen []record.Trigger
	var r *Reporter
	about := adk.SessionRef{SessionID: "s"}
	r = New(Config{Observe: func(ctx context.Context, o Observation) {
		if o.Trigger == record.TriggerTokens {
			r.Observe(ctx, Observation{Session: about, Trigger: record.TriggerMerge})
			r.Observe(ctx, Observation{Session: adk.SessionRef{SessionID: "other"}, Trigger: record.TriggerManual})
			if len(r.queue.pending) != 1 {
				t.Errorf("%d sessions have pending calls, want the one whose observer works", len(r.queue.pending))
			}
		}
		seen = append(seen, o.Trigger)
		if o.Trigger == record.TriggerCheckpoint {
			panic("observer")
		}
	}})
	for _, trigger := range []record.Trigger{record.TriggerTokens, record.TriggerCheckpoint, record.TriggerInvocations} {
		r.Observe(t.Context(), Observation{Session: about, Trigger: trigger})
	}
	want := []record.Trigger{record.TriggerManual, record.TriggerTokens, record.TriggerMerge, record.TriggerCheckpoint, record.TriggerInvocations}
	if !slices.Equal(seen, want) {
		t.Errorf("observed %q, want %q", seen, want)
	}
	if len(r.queue.pending) != 0 {
		t.Errorf("%d sessions still have pending calls", len(r.queue.pending))
	}
}
