// Package job says what a compaction of one session is for, and what became of it.
package job

import (
	"time"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Job is one occasion to compact a session.
type Job struct {
	Trigger record.Trigger
	// InvocationID is the invocation whose event was the occasion, "" for none.
	InvocationID string
	// Inline says that a turn waits, until Deadline at most.
	Inline   bool
	Deadline time.Time
	// Forced says that the prompt is over the hard limit: it must get smaller whatever it takes.
	Forced bool
	// ByHand says that a person waits for an answer.
	ByHand bool
	// Extractive says that no model is asked.
	Extractive bool
	// Kind is "" for a summary. Focus, Note and Pack are a person's: Pack is the wording of the prompt, ""
	// for the configured one.
	Kind        record.Kind
	Focus, Note string
	Pack        summarizer.Pack
}

// Result is what became of writing or storing one summary, for the one who decides what comes next.
// People are told more, see package telemetry.
type Result int

const (
	Written   Result = iota // the summary is stored, or waits for the next append: build on it
	Declined                // there was nothing to gain, or nobody waits for it any more
	Failed                  // it could not be written or stored
	Discarded               // it was written, and is of no use any more
)
