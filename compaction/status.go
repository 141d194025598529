package compaction

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Status describes a session: what is stored, what the model would see, and what is due.
type Status struct {
	// StoredEvents counts all events in storage, including records; VisibleEvents counts the events
	// of the view, including summaries.
	StoredEvents, VisibleEvents int
	// Summaries are the summaries that the view shows, in its order.
	Summaries []SummaryStatus
	// UnreadableRecords counts records in storage that cannot be read, summaries that another implementation of
	// ADR-009 stored as messages, and records of ADK's own compaction. They hide nothing.
	UnreadableRecords int
	// Activity counts what was ever written, what later records have absorbed included.
	Activity Activity

	// PromptTokens is the size of the next prompt of an agent in the root branch: the provider's
	// last report plus estimates of later events, or an estimate.
	PromptTokens int
	// TokenThreshold is the prompt size at which the token trigger fires, 0 if it is off.
	TokenThreshold int
	// HardLimit is the prompt size that forces a compaction before the next prompt.
	HardLimit int
	// ContextWindow is the context window that both limits derive from.
	ContextWindow int
	// EffectiveWindow is the context window less what is reserved for the reply: how much of it a prompt may fill.
	EffectiveWindow int

	// Due reports whether the next event would start a compaction, and Trigger names the trigger.
	// Otherwise Reason names what the compaction waits for: the end of the turn, a larger prompt,
	// or a time.
	Due     bool
	Trigger record.Trigger
	Reason  string

	// Economy is the arithmetic for the next prompt where prices decide, and what compactions have cost and saved so
	// far. The zero value if they do not.
	Economy EconomyStatus

	// WaitingSummaries counts summaries that this process stores with its next append to the
	// session.
	WaitingSummaries int
	// WaitingCheckpoints counts calls of Config.CheckpointTool that no checkpoint answers yet, and that
	// may still lead to one: their turn goes on, or the next one has to end first.
	WaitingCheckpoints int
	// Running reports whether a compaction is under way or in line in this process.
	Running bool
	// Failures counts failed attempts in a row in this process, and LastError is the error of the
	// latest. The next automatic attempt waits until RetryAt; the zero time means that it does not
	// wait.
	Failures  int
	LastError error
	RetryAt   time.Time
}

// SummaryStatus describes one visible summary.
type SummaryStatus struct {
	RecordID                        string
	Kind                            record.Kind
	Trigger                         record.Trigger
	Branch                          string
	CreatedAt                       time.Time
	Level                           int
	Age                             time.Duration // since CreatedAt
	Focus, Note                     string        // of the person who asked for it, "" for none
	Absorbed                        int           // earlier summaries that it has replaced, as far as they are loaded
	Events                          int           // that it stands for
	Characters                      int           // of its text, without the frame
	OriginalTokens, CompactedTokens int           // estimates
}

// Status describes a session. It changes nothing. Errors are the inner service's.
func (s *CompactionSessionService) Status(ctx context.Context, ref SessionRef) (Status, error) {
	h, err := s.sessions.Handle(ctx, ref)
	if err != nil {
		return Status{}, err
	}
	activity, err := activity(ctx, s.sessions, s.inner, h)
	if err != nil {
		return Status{}, err
	}
	due, trigger, reason := s.engine.Prospect(ctx, h)
	state, limits, attempts := h.View.State(), h.State.Prompts.Limits(), h.State.Learned.Attempts.Status()
	status := Status{
		StoredEvents: state.Stored + h.Unloaded(), VisibleEvents: len(state.View), UnreadableRecords: state.Unreadable,
		PromptTokens:   h.Meter.Prompt("").Likely,
		TokenThreshold: limits.Threshold, HardLimit: limits.HardLimit, ContextWindow: limits.ContextWindow, EffectiveWindow: limits.Effective(),
		Due: due, Trigger: trigger, Reason: reason,
		Activity: activity, WaitingCheckpoints: s.engine.WaitingCheckpoints(h),
		WaitingSummaries: len(h.State.Waiting.All()), Running: h.State.Line.Busy(),
		Failures: attempts.Failures, RetryAt: attempts.RetryAt,
	}
	if s.settings.ByPrice {
		status.Economy = economyOf(h, h.Meter.Prompt("").Economy)
	}
	if status.Failures > 0 {
		status.LastError = attempts.Err
	}
	absorbed := absorbedBy(h.View.Raw())
	for _, m := range state.Current {
		prose, _ := m.Text() // a current record has one
		status.Summaries = append(status.Summaries, SummaryStatus{
			RecordID: m.RecordID, Kind: m.Kind, Trigger: m.Trigger, Branch: m.Branch, CreatedAt: m.CreatedAt, Level: m.Level,
			Age: platform.Now(ctx).Sub(m.CreatedAt), Focus: m.Focus, Note: m.Note, Absorbed: absorbed(m),
			Events: m.EventCount, Characters: utf8.RuneCountInString(prose),
			OriginalTokens: m.OriginalTokens, CompactedTokens: m.CompactedTokens,
		})
	}
	return status, nil
}

// absorbedBy returns a function that counts the records which a record has replaced, directly or
// through others. A record that is not loaded counts, but not what it replaced in turn.
func absorbedBy(events []*session.Event) func(*record.Metadata) int {
	byID := map[string]*record.Metadata{}
	for _, ev := range events {
		if m, err := record.From(ev); err == nil && m != nil {
			byID[m.RecordID] = m
		}
	}
	return func(m *record.Metadata) int {
		seen := map[string]bool{m.RecordID: true}
		for open := m.Absorbed; len(open) > 0; {
			id := open[0]
			open = open[1:]
			if seen[id] {
				continue
			}
			seen[id] = true
			if next := byID[id]; next != nil {
				open = append(slices.Clone(open), next.Absorbed...)
			}
		}
		return len(seen) - 1
	}
}
