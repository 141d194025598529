package writer

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
	// Inline means that a turn waits, until Deadline at most.
	Inline   bool
	Deadline time.Time
	// Forced means that the prompt is over the hard limit, and must get smaller whatever it takes.
	Forced bool
	// ByHand means that a person waits for an answer.
	ByHand bool
	// Extractive means that no model is asked.
	Extractive bool
	// Kind is "" for a summary. Focus, Note and Pack are a person's: Pack is the wording of the
	// prompt, "" for the configured one.
	Kind        record.Kind
	Focus, Note string
	Pack        summarizer.Pack
}

// Result is the result of writing or storing one summary, for the code that decides what comes
// next. Observers learn more, see package telemetry.
type Result int

const (
	Written   Result = iota // the summary is stored, or waits for the next append: build on it
	Declined                // there was nothing to gain, or its caller is gone
	Failed                  // it could not be written or stored
	Discarded               // it was written, and is of no use any more
)
