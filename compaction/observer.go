package compaction

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Observer is told what the service does. Calls come from whatever goroutine does the work, several
// at a time for different sessions; an observer must not block and must not call the service for the
// same session. A panic in it is swallowed.
type Observer interface {
	Observe(ctx context.Context, o Observation)
}

// ObserverFunc is a function as an [Observer].
type ObserverFunc func(ctx context.Context, o Observation)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, o Observation) { f(ctx, o) }

// Outcome says what became of a compaction.
type Outcome string

// The outcomes. Every started one is followed by exactly one of the others. Others come alone: a
// declined one where a trigger was due and nothing could be summarized; one of the last three where a
// record that was summarized earlier, and could not be stored then, is stored without a new summary.
const (
	Started   Outcome = "started"   // a summarizer is about to be called
	Stored    Outcome = "stored"    // the record is in storage and in every view
	Declined  Outcome = "declined"  // due, but there was nothing to gain: Reason says why
	Discarded Outcome = "discarded" // summarized, but not stored: Reason says why
	Failed    Outcome = "failed"    // Err says why; the history is as it was
)

// Observation is one thing that happened.
type Observation struct {
	Outcome Outcome
	Session SessionRef
	Trigger record.Trigger
	Branch  string
	// InvocationID is the invocation whose event set off the trigger, "" for manual ones.
	InvocationID string
	// Inline says that a turn waited for it.
	Inline bool

	Events       int // how many events and summaries the record replaces in the view
	TokensBefore int // what they took up in a prompt, estimated
	TokensAfter  int // what the summary takes up, estimated; 0 unless there is one

	RecordID string
	Duration time.Duration
	Usage    tokens.Usage // of the summarizer's own calls
	Cost     float64      // of Usage, in USD, where the model's price is known
	Model    string       // that wrote the summary; "" for none

	Reason string
	Err    error // wraps ErrCompaction
}

func (s *CompactionSessionService) observe(ctx context.Context, o Observation) {
	if s.policy.Observer == nil {
		return
	}
	defer func() { _ = recover() }()
	s.policy.Observer.Observe(ctx, o)
}
