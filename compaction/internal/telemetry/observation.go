package telemetry

import (
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Outcome is what happened. Package compaction documents each of the outcomes for its users.
type Outcome string

// The outcomes, under the names that package compaction gives them.
const (
	Started     Outcome = "started"
	Waiting     Outcome = "waiting"
	Stored      Outcome = "stored"
	Declined    Outcome = "declined"
	Discarded   Outcome = "discarded"
	Failed      Outcome = "failed"
	Unreadable  Outcome = "unreadable"
	Misreported Outcome = "misreported"
	GivenUp     Outcome = "given up"
)

// Observation is one thing that happened. Package compaction documents the fields for its users.
type Observation struct {
	Outcome      Outcome
	Session      sessions.Ref
	Trigger      record.Trigger
	Branch       string
	InvocationID string
	Inline       bool

	Events       int
	TokensBefore int
	TokensAfter  int

	RecordID string
	Calls    []string
	Duration time.Duration
	Usage    tokens.Usage
	Cost     float64
	Model    string

	Reason string
	Err    error
}
