package compaction

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
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

	// Due says that the next event would start a compaction, and Trigger why. Otherwise Reason says why
	// not, and what it waits for: the end of the turn, a larger prompt, or a time.
	Due     bool
	Trigger record.Trigger
	Reason  string

	// WaitingSummaries counts summaries that this process stores with its next append to the session.
	WaitingSummaries int
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
	Age                             time.Duration // since CreatedAt
	Focus, Note                     string        // of the person who asked for it, "" for none
	Absorbed                        int           // earlier summaries that it has replaced, as far as they are loaded
	Events                          int           // that it stands for
	Characters                      int           // of its text, without the frame
	OriginalTokens, CompactedTokens int           // estimates
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
		PromptTokens:      h.meter.Prompt("").Likely,
		TokenThreshold:    h.state.prompts.Limits().Threshold,
		HardLimit:         h.state.prompts.Limits().HardLimit,
		ContextWindow:     h.state.prompts.Limits().ContextWindow,
		Running:           h.state.line.Busy(),
	}
	absorbed := absorbedBy(h.view.Raw())
	for _, m := range state.Current {
		prose, _ := m.Text() // a live record has one
		status.Summaries = append(status.Summaries, SummaryStatus{
			RecordID: m.RecordID, Kind: m.Kind, Trigger: m.Trigger, Branch: m.Branch, CreatedAt: m.CreatedAt, Level: m.Level,
			Age: now(ctx).Sub(m.CreatedAt), Focus: m.Focus, Note: m.Note, Absorbed: absorbed(m),
			Events: m.EventCount, Characters: utf8.RuneCountInString(prose),
			OriginalTokens: m.OriginalTokens, CompactedTokens: m.CompactedTokens,
		})
	}
	switch f, err := s.prospect(h); {
	case !s.policy.automatic():
		status.Reason = "automatic triggers are off"
	case err != nil:
		status.Reason = err.Error()
	default:
		status.Reason = s.waitsFor(h, f, state.View)
		if status.Due = status.Reason == ""; status.Due {
			status.Trigger = f.trigger
		}
	}
	status.WaitingSummaries = len(h.state.waiting.All())
	attempts := h.state.learned.Attempts.Status()
	status.Failures, status.RetryAt = attempts.Failures, attempts.RetryAt
	if status.Failures > 0 {
		status.LastError = attempts.Err
	}
	return status, nil
}

// absorbedBy returns a function that counts the records which a record has replaced, directly or through
// others. A record that is not loaded counts, but not what it replaced in turn.
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

// waitsFor names what a compaction waits for, "" for the next event.
func (s *CompactionSessionService) waitsFor(h *handle, f candidate, view []*session.Event) string {
	if f.Empty() {
		if reason := s.waitsForGrowth(h); f.Reason == selector.NotDue && reason != "" {
			return reason
		}
		return string(f.Reason)
	}
	over := f.trigger == record.TriggerTokens && f.prompt.AtMost >= h.state.prompts.Limits().HardLimit
	var last *session.Event
	if len(view) > 0 {
		last = view[len(view)-1]
	}
	attempts := h.state.learned.Attempts.Status()
	tried := attempts.TriedInline
	switch {
	case over: // then it starts in any case, without a model if need be
		return ""
	case time.Now().Before(attempts.RetryAt):
		return fmt.Sprintf("%d attempts in a row failed: the next one waits until %s", attempts.Failures, attempts.RetryAt.Format(time.RFC3339))
	case h.state.learned.Attempts.Hanging():
		return errHanging.Error()
	case s.policy.Synchronous && last != nil && tried != "" && last.InvocationID == tried:
		return "an attempt failed in this turn: the next one waits for the next turn"
	case f.trigger == record.TriggerTokens && h.state.prompts.IsQuiet(f.reader, f.prompt):
		return fmt.Sprintf("there was nothing to summarize: the next look waits until the prompt of %d tokens has %d", f.prompt.Likely, h.state.learned.Windows.QuietUntil(f.reader))
	case f.trigger == record.TriggerInvocations && last != nil && !adk.Classify(last).Is(adk.EndsTurn):
		return "due by turns: waits for the end of the turn that is under way"
	}
	return ""
}

// waitsForGrowth says that a prompt is over the threshold, and the last compaction could not bring it
// under; "" where there is none.
func (s *CompactionSessionService) waitsForGrowth(h *handle) string {
	threshold := h.state.prompts.Limits().Threshold
	for _, branch := range h.meter.Branches() {
		size := h.meter.Prompt(branch).Likely
		floor := h.state.learned.Windows.Floor(branch)
		if threshold > 0 && size >= threshold && size < floor {
			return fmt.Sprintf("the last compaction could not bring the prompt under the threshold of %d tokens: the next one waits until it has grown from %d to %d",
				threshold, size, floor)
		}
	}
	return ""
}
