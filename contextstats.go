package longsession

import (
	"context"
	"slices"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/activity"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// ContextStats reports how the context of a session was managed, and what the session has spent.
type ContextStats struct {
	// At is when the session was looked at. Ages count to it.
	At time.Time
	// Activity counts all compactions and checkpoints of the session.
	Activity compaction.Activity
	// Usage is what the session has spent. It is zero without LayerGuard.
	Usage guard.Usage
}

// ContextStats reports how the context of a session was managed. It reads the session's whole history, so
// call it when a person asks, not in every turn. The error is that of the session service: an unknown session is
// [google.golang.org/adk/session.ErrNotFound].
func (s *Stack) ContextStats(ctx context.Context, ref compaction.SessionRef) (ContextStats, error) {
	status, err := s.Sessions.Status(ctx, ref)
	if err != nil {
		return ContextStats{}, err
	}
	stats := ContextStats{At: time.Now(), Activity: status.Activity}
	if s.Guard != nil {
		stats.Usage, err = s.Guard.Usage(ctx, s.Sessions, ref)
	}
	return stats, err
}

// String is a block of lines, without a newline at the end:
//
//	Context-management activity:
//	  Compactions:  1 (last 4m12s ago, focus: auth module)
//	  Checkpoints:  3 (last 51s ago, note: finished the survey)
//	  Summarized:   8420 chars across all boundaries
//	  Subtasks:     2 (32919 in / 338 out tokens, $0.0107 rolled up to /stats total)
//	  Models:       gemini-2.5-pro (5 turns, 30822 in / 558 out, $0.0683)
//	              + gemini-2.5-flash (2 turns, 16520 in / 206 out, $0.0055)
//
// A row without anything to show has a 0, and the models are left out unless there are two or more. A model's
// turns are its calls.
func (c ContextStats) String() string {
	a, u := c.Activity, c.Usage
	unpriced := func(model string) bool { return slices.Contains(u.Unpriced, model) }
	stats := activity.Stats{
		Now:          c.At,
		Compactions:  activity.Boundaries{Count: a.Compactions, Last: a.LastCompaction, Text: a.Focus},
		Checkpoints:  activity.Boundaries{Count: a.Checkpoints, Last: a.LastCheckpoint, Text: a.Note},
		SummaryChars: a.Characters,
		Subtasks:     activity.Subtasks{Count: u.Subtasks.Count, Usage: u.Subtasks.Tokens, USD: u.Subtasks.USD, Unpriced: u.Subtasks.Unpriced},
	}
	for _, m := range u.Models {
		stats.Models = append(stats.Models, activity.Model{Name: m.Model, Calls: m.Calls, Usage: m.Tokens, USD: m.USD, Unpriced: unpriced(m.Model)})
	}
	return stats.String()
}
