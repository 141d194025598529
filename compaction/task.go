package compaction

import (
	"time"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// task is one occasion to compact a session.
type task struct {
	trigger      record.Trigger
	invocationID string
	// inline says that a turn waits, until deadline at most.
	inline   bool
	deadline time.Time
	// forced says that the prompt is over the hard limit: it must get smaller whatever it takes.
	forced bool
	// byHand says that a person waits for an answer.
	byHand bool
	// extractive says that no model is asked.
	extractive bool
	// shorter, if not 0, is how long the summary may be at most, in tokens.
	shorter int
	kind    record.Kind
	focus   string
	note    string
	// pack is the wording that a person asked for, "" for the configured one.
	pack summarizer.Pack
}
