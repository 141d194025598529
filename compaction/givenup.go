package compaction

import (
	"context"

	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// reportGivenUp reports the calls that a summary hides although somebody might still answer them, once
// each: when the view shows the summary for the first time.
func (s *CompactionSessionService) reportGivenUp(ctx context.Context, a *attempt) {
	events := a.draft.givenUp
	a.draft.givenUp = nil
	for _, ev := range events {
		s.policy.reporter.Observe(ctx, telemetry.Observation{
			Outcome: telemetry.GivenUp, Session: a.Session, Trigger: a.Trigger, Branch: ev.Branch, InvocationID: ev.InvocationID,
			Inline: a.Inline, RecordID: a.RecordID, Calls: adk.CallIDs(ev),
			Reason: "too many calls wait for an answer, and these are the oldest",
		})
	}
}
