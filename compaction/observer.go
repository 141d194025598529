package compaction

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Outcome is what happened.
type Outcome string

// The outcomes. Every [Started] is followed by exactly one [Waiting], [Stored], [Declined],
// [Discarded] or [Failed] of the same compaction. These outcomes also occur without a Started:
// Declined, if a trigger was due and nothing could be summarized; and each of them but Waiting,
// when the service stores a summary that was written earlier.
const (
	Started   Outcome = "started"   // a summarizer is about to be called
	Waiting   Outcome = "waiting"   // summarized; this process's next append to the session stores the record
	Stored    Outcome = "stored"    // the record is in storage and in every view
	Declined  Outcome = "declined"  // due, but there was nothing to gain: Reason says why
	Discarded Outcome = "discarded" // summarized, but not stored: Reason says why
	Failed    Outcome = "failed"    // Err says why; the history is as it was

	// Unreadable is not about a compaction: the session holds a record of another version, or one
	// that is damaged or forged, or a summary that another implementation of ADR-009 stored as a message
	// and that is shown as one. It hides nothing. Err has its event and what is wrong with it.
	// Each record is reported once, before the first work on the session, and again if the process
	// has forgotten the session in between.
	//
	// It is also reported, once for each service, when ADK's own compaction appends a record: an app has
	// one compaction or the other.
	Unreadable Outcome = "unreadable"

	// Misreported is not about a compaction either: the provider's count of a prompt is so high
	// that no compaction could help. The service ignores the count and follows its estimate. It is
	// reported once for each agent, and again after some plausible counts. Reason has the numbers,
	// TokensBefore the estimate. It is also reported, with the summarizer's model, when a summarizer
	// begins to report a usage that no call can have, such as -1 tokens: the nearest possible usage is
	// recorded and charged.
	Misreported Outcome = "misreported"

	// GivenUp follows a summary that hides a long-running call or a confirmation that nobody has
	// answered yet: more than selector.MaxWaiting of them wait in the session, and this one is the
	// oldest. Calls and InvocationID identify it. If an answer still arrives, the view shows both
	// again, but ADK may have given the turn to another agent by then. Each is reported once.
	GivenUp Outcome = "given up"

	// CutFailed is not about a compaction either: Config.Cut panicked, or returned an event that
	// differs in more than its tool responses. The event is shown as it is stored. It is reported
	// once for each session, and again if the process has forgotten the session in between. Err has
	// the event and what was wrong.
	CutFailed Outcome = "cut failed"
)

// Observation is one thing that happened.
//
// Config.Observer gets one of every compaction. Calls come from the goroutine that does the
// work. For one session they come one at a time, in the order in which things happened; for
// different sessions several may come at once. No lock is held, so an observer may read the session
// (Get, Raw, Status). But the work waits for it, and the next work on the session waits for the
// work: an observer must not block, append to the session, or call Compact, Checkpoint, Flush or
// Close. A panic in it is swallowed.
//
// The context is the work's. It carries the span of the compaction, which has ended unless the
// outcome is [Started].
type Observation struct {
	Outcome Outcome
	Session SessionRef
	Trigger record.Trigger
	Branch  string
	// InvocationID is the invocation whose event set off the trigger, "" for a compaction by hand.
	InvocationID string
	// Inline means that a turn waited for the compaction.
	Inline bool

	Events       int // how many events and summaries the record replaces in the view
	TokensBefore int // estimate of their size in a prompt
	// TokensAfter is an estimate of the summary's size, 0 if there is none. It is more than TokensBefore where a summary that was
	// cut for a full prompt is shown whole again: the trigger is then record.TriggerMerge, and Events is 1.
	TokensAfter int

	RecordID string
	Calls    []string      // of GivenUp: the IDs of the calls in one event; nil for any other outcome
	Duration time.Duration // of summarizing and storing
	Usage    tokens.Usage  // of the summarizer's own calls, if it reports any; only with the outcome that follows Started
	// Estimated is what those calls used that no report came for, by estimate. It is no part of Usage and Cost.
	Estimated tokens.Usage
	Answers   int     // how many calls of the summarizer's model Usage and Estimated are about; 0 if it does not count them
	Cost      float64 // of Usage, in USD; 0 if Config.Registry has no price for the model
	Model     string  // model that wrote the summary; "" for none

	// Kept is the share of exact values of the window, from 0 to 1, that the view has with the record: in the summary, and
	// in what stands behind it. It is nil if nobody measured it: no model wrote the summary, or no values are listed. Invented is
	// how many values were cut out of the summary because its window does not have them.
	Kept     *float64
	Invented int

	// Economy is the arithmetic of the prompt that set off the compaction, if prices decide: whether it was
	// by price, what keeping the history had cost, and what the compaction was expected to cost. The zero value if
	// another trigger was due first, or by hand.
	Economy Economy

	Reason string
	Err    error // wraps ErrCompaction
}

// observation translates an internal observation into an exported one.
func observation(o telemetry.Observation) Observation {
	return Observation{
		Outcome: Outcome(o.Outcome), Session: o.Session, Trigger: o.Trigger, Branch: o.Branch,
		InvocationID: o.InvocationID, Inline: o.Inline,
		Events: o.Events, TokensBefore: o.TokensBefore, TokensAfter: o.TokensAfter,
		RecordID: o.RecordID, Calls: o.Calls, Duration: o.Duration, Usage: o.Usage, Estimated: o.Estimated, Answers: o.Answers, Cost: o.Cost, Model: o.Model,
		Kept: o.Kept, Invented: o.Invented,
		Economy: Economy(o.Economy),
		Reason:  o.Reason, Err: o.Err,
	}
}

// newReporter makes the reporter for a policy.
func newReporter(p *policy) *telemetry.Reporter {
	cfg := telemetry.Config{
		TracerProvider: p.TracerProvider, MeterProvider: p.MeterProvider, Logger: p.Logger,
		Summarizer: p.summarizer, Provider: p.provider(), Registry: p.Registry, OmitErrorText: p.OmitErrorText,
		Interval: p.InvocationThreshold, Overlap: p.OverlapSize, Retention: p.RetainEvents,
	}
	if p.Observer != nil {
		cfg.Observe = func(ctx context.Context, o telemetry.Observation) { p.Observer(ctx, observation(o)) }
	}
	return telemetry.New(cfg)
}
