package compaction

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Observer is told what the service does. Calls come from whatever goroutine does the work: several
// at a time for different sessions, one at a time and in the order of what happened for one session.
// No lock is held, so an observer may read the session (Get, Raw, Status). But the work waits for it,
// and what is next in line for the session waits for the work: it must not block, append to the
// session, or call Compact, Checkpoint, Flush or Close. A panic in it is swallowed.
//
// The context is the work's: it carries the span of the compaction (ended, except for a started one).
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
// declined one where a trigger was due and nothing could be summarized; one of the last four where a
// record that was summarized earlier, and was not stored then, is stored without a new summary.
const (
	Started   Outcome = "started"   // a summarizer is about to be called
	Waiting   Outcome = "waiting"   // summarized; this process's next append to the session stores the record
	Stored    Outcome = "stored"    // the record is in storage and in every view
	Declined  Outcome = "declined"  // due, but there was nothing to gain: Reason says why
	Discarded Outcome = "discarded" // summarized, but not stored: Reason says why
	Failed    Outcome = "failed"    // Err says why; the history is as it was

	// Unreadable is not about a compaction: the session holds a record of another version, or one that
	// is damaged or forged. It hides nothing. Err names its event and what is wrong with it. Each is
	// told once, before the first work on the session; again when the process has forgotten the session.
	Unreadable Outcome = "unreadable"

	// Misreported is not about a compaction either: the provider's count of a prompt is so high that no
	// compaction could help. It counts for nothing, and the estimate is followed. Told once, and again
	// after a count that was believed. Reason has the numbers, TokensBefore the estimate.
	Misreported Outcome = "misreported"

	// GivenUp follows a summary that hides a long-running call or a confirmation for which nobody has an
	// answer yet: more than selector.MaxWaiting of them wait in the session, and this one is the oldest.
	// Calls and InvocationID name it. If an answer comes after all, the view shows both again, but ADK may
	// have given the turn to another agent by then. Each is told once.
	GivenUp Outcome = "given up"
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
	Calls    []string // of GivenUp: the IDs of the calls in one event; nil for any other outcome
	Duration time.Duration
	Usage    tokens.Usage // of the summarizer's own calls, where it reports it; told once, with the outcome of the calls
	Cost     float64      // of Usage, in USD; 0 where package tokens does not know the model's price
	Model    string       // that wrote the summary; "" for none

	Reason string
	Err    error // wraps ErrCompaction
}

// observation translates what the service reports into what an observer is given.
func observation(o telemetry.Observation) Observation {
	return Observation{
		Outcome: Outcome(o.Outcome), Session: SessionRef(o.Session), Trigger: o.Trigger, Branch: o.Branch,
		InvocationID: o.InvocationID, Inline: o.Inline,
		Events: o.Events, TokensBefore: o.TokensBefore, TokensAfter: o.TokensAfter,
		RecordID: o.RecordID, Calls: o.Calls, Duration: o.Duration, Usage: o.Usage, Cost: o.Cost, Model: o.Model,
		Reason: o.Reason, Err: o.Err,
	}
}

// newReporter makes the reporter for a policy.
func newReporter(p *policy) *telemetry.Reporter {
	cfg := telemetry.Config{
		TracerProvider: p.TracerProvider, MeterProvider: p.MeterProvider, Logger: p.Logger,
		Registry: p.Registry, OmitErrorText: p.OmitErrorText,
		Interval: p.InvocationThreshold, Overlap: p.OverlapSize, Retention: p.RetainEvents,
	}
	if p.Observer != nil {
		cfg.Observe = func(ctx context.Context, o telemetry.Observation) { p.Observer.Observe(ctx, observation(o)) }
	}
	return telemetry.New(cfg)
}
