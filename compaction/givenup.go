package compaction

import (
	"context"

	"google.golang.org/adk/session"

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
			Inline: a.Inline, RecordID: a.RecordID, Calls: callIDsOf(ev),
			Reason: "too many calls wait for an answer, and these are the oldest",
		})
	}
}

func callIDsOf(ev *session.Event) []string {
	var ids []string
	for _, call := range adk.FunctionCalls(ev) {
		ids = append(ids, call.ID)
	}
	return ids
}
