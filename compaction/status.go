package compaction

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/record"
)

// Status is how a session stands: what is stored, what the model would see, and what is due.
type Status struct {
	// StoredEvents counts all events in storage, records among them; VisibleEvents what the view
	// shows, summaries among them.
	StoredEvents, VisibleEvents int
	// Summaries are the summaries that the view shows, in its order.
	Summaries []SummaryStatus
	// UnreadableRecords counts records in storage that cannot be read. They hide nothing.
	UnreadableRecords int

	// PromptTokens is what the next prompt of an agent in the root branch takes up: as the provider
	// last reported it plus what came since, or estimated.
	PromptTokens int
	// TokenThreshold is the prompt size at which the token trigger fires; 0: it is off.
	TokenThreshold int
	// HardLimit is the prompt size that forces a compaction before the next prompt.
	HardLimit int
	// ContextWindow is the window that both derive from.
	ContextWindow int

	// Due says that a compaction would start now, and Trigger why. Otherwise Reason says why not.
	Due     bool
	Trigger record.Trigger
	Reason  string

	// Running says that a compaction is under way or in line in this process.
	Running bool
	// Failures counts failed attempts in a row in this process, LastError is the latest one's, and
	// RetryAt when the next automatic attempt may be made; zero for at once.
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
	Events                          int // that it stands for
	OriginalTokens, CompactedTokens int // estimates
}

// Status reports how a session stands. It changes nothing. Errors are the inner service's.
func (s *CompactionSessionService) Status(ctx context.Context, ref SessionRef) (Status, error) {
	h, err := s.handleOf(ctx, ref)
	if err != nil {
		return Status{}, err
	}
	s.followModel(ctx, h.state)
	h.catchUp()
	state := h.view.State()
	status := Status{
		StoredEvents:      state.Stored + h.unloaded,
		VisibleEvents:     len(state.View),
		UnreadableRecords: state.Unreadable,
		PromptTokens:      h.meter.prompt(h, "").likely,
		TokenThreshold:    s.limits(h.state).threshold,
		HardLimit:         s.limits(h.state).limit,
		ContextWindow:     s.limits(h.state).window,
		Running:           h.state.jobs.busy(),
	}
	for _, m := range state.Live {
		status.Summaries = append(status.Summaries, SummaryStatus{
			RecordID: m.RecordID, Kind: m.Kind, Trigger: m.Trigger, Branch: m.Branch, CreatedAt: m.CreatedAt, Level: m.Level,
			Events: m.EventCount, OriginalTokens: m.OriginalTokens, CompactedTokens: m.CompactedTokens,
		})
	}
	switch f, err := s.prospect(h); {
	case !s.policy.automatic():
		status.Reason = "automatic triggers are off"
	case err != nil:
		status.Reason = err.Error()
	case f.Empty():
		status.Reason = string(f.Reason)
	default:
		status.Due, status.Trigger = true, f.trigger
	}
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	status.Failures, status.RetryAt = h.state.memory.failures, h.state.memory.retryAt
	if status.Failures > 0 {
		status.LastError = h.state.memory.last.Err
	}
	return status, nil
}

// busy reports whether work is under way or in line.
func (j *jobs) busy() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.active > 0
}
