package audit

import (
	"context"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/activity"
)

// Activity reports how a session was kept short, and what it has spent.
type Activity struct {
	*Session
	Made
	LastCompaction string `json:"last_compaction,omitempty"`
	LastCheckpoint string `json:"last_checkpoint,omitempty"`
	Focus          string `json:"focus,omitempty"`
	Note           string `json:"note,omitempty"`
	// Characters is the length of all summaries ever written.
	Characters int `json:"characters"`
	// SubtaskCount counts the subtasks whose sessions are in the file. Subtasks and Models are what they
	// and the models spent: by the totals of a guard, or else by the events.
	SubtaskCount int          `json:"subtask_sessions"`
	Subtasks     Spent        `json:"subtasks"`
	Models       []ModelCosts `json:"models"`

	made compaction.Activity
}

// Activity sums up what was done to keep a session short. The prices are for sessions without a guard.
func (p Prices) Activity(ctx context.Context, f *File, s *Session) (*Activity, error) {
	var broken error
	made := compaction.ActivityIn(func(yield func(*session.Event) bool) {
		for row, err := range f.Rows(ctx, s, 0, -1) {
			if err != nil {
				broken = err
				return
			}
			if row.Event != nil && !yield(row.Event) {
				return
			}
		}
	})
	if broken != nil {
		return nil, broken
	}
	costs, err := p.Costs(ctx, f, s, 0)
	if err != nil {
		return nil, err
	}
	a := &Activity{Session: s, Made: Made{made.Compactions, made.Merges, made.Checkpoints}, Focus: made.Focus, Note: made.Note,
		Characters: made.Characters, SubtaskCount: len(costs.Tasks), Subtasks: costs.Subtasks, Models: costs.Models, made: made}
	if !made.LastCompaction.IsZero() {
		a.LastCompaction = stamp(made.LastCompaction)
	}
	if !made.LastCheckpoint.IsZero() {
		a.LastCheckpoint = stamp(made.LastCheckpoint)
	}
	if l := s.Ledger; l != nil {
		a.Subtasks, a.Models = l.Subtasks, l.Models
	}
	return a, nil
}

// Stats is the activity as an app shows it, at a time.
func (a *Activity) Stats(now time.Time) activity.Stats {
	s := activity.Stats{
		Now:          now,
		Merges:       a.made.Merges,
		Compactions:  activity.Boundaries{Count: a.made.Compactions, Last: a.made.LastCompaction, Text: a.made.Focus},
		Checkpoints:  activity.Boundaries{Count: a.made.Checkpoints, Last: a.made.LastCheckpoint, Text: a.made.Note},
		SummaryChars: a.made.Characters,
		Subtasks:     activity.Subtasks{Count: a.SubtaskCount, Usage: a.Subtasks.Usage, USD: a.Subtasks.USD, Unpriced: a.Subtasks.Unpriced > 0},
	}
	for _, m := range a.Models {
		s.Models = append(s.Models, activity.Model{Name: modelName(m.Priced), Calls: m.Calls, Usage: m.Usage, USD: m.USD, Unpriced: m.Unpriced > 0})
	}
	return s
}

func modelName(m Priced) string {
	if m.Model == "" {
		return "model not named"
	}
	return m.Model
}
