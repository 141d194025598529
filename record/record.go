// Package record defines what a compaction leaves behind in a session: one JSON object in the
// CustomMetadata of an otherwise empty event.
//
// The object is JSON-native (strings, float64 numbers, bools, arrays, maps), because ADK's session
// services store CustomMetadata through JSON, SQL and structpb and only such values come back as
// they went in. Times are RFC 3339 strings with nanoseconds, always UTC.
//
// Coverage is by the identity of events ([Ref]), never by a time range: a reference that no longer
// names exactly one event hides nothing.
package record

import "time"

// Key is the CustomMetadata key under which a record is stored.
const Key = "_adk_compaction"

// Version is the only format version this package reads and writes. A record of another version
// hides nothing and shows nothing.
const Version = 1

// Kind says what a record's text is.
type Kind string

const (
	// KindSummary is a summary of earlier turns or tool rounds.
	KindSummary Kind = "summary"
	// KindCheckpoint is the account of a finished task.
	KindCheckpoint Kind = "checkpoint"
)

// Trigger says what caused a record to be written.
type Trigger string

// The triggers, as stored.
const (
	TriggerInvocations Trigger = "invocations"
	TriggerTokens      Trigger = "tokens"
	TriggerManual      Trigger = "manual"
	TriggerCheckpoint  Trigger = "checkpoint"
	TriggerMerge       Trigger = "merge"
)

// Ref names one stored event.
//
// ID is compared first. Timestamp (compared at microseconds), InvocationID and Author are the
// second way to find the event where a backend renames IDs on read, as Vertex AI does.
type Ref struct {
	ID           string
	InvocationID string
	Timestamp    time.Time
	Author       string
}

// IsZero reports whether the reference names nothing.
func (r Ref) IsZero() bool { return r.ID == "" && r.hasNoAltKey() }

func (r Ref) hasNoAltKey() bool {
	return r.InvocationID == "" && r.Author == "" && r.Timestamp.IsZero()
}

// Usage is what the summarizer's own model call cost, in tokens as the provider reported them.
type Usage struct {
	PromptTokens int
	OutputTokens int
}

// Metadata is one compaction record.
//
// It stands for the events in Covered and, transitively, for all that the records in Absorbed stand
// for. The counts and times describe all of that; they inform people and order summaries, and never
// decide what is hidden. Token counts are estimates by package tokens unless said otherwise.
type Metadata struct {
	// RecordID is a UUID of our own; event IDs do not survive every backend.
	RecordID string
	Kind     Kind

	StartTimestamp    time.Time
	EndTimestamp      time.Time
	StartInvocationID string
	EndInvocationID   string

	// CompactedContentJSON is the summary as a genai.Content in JSON, role "model".
	CompactedContentJSON string

	EventCount       int
	OriginalTokens   int
	CompactedTokens  int
	CompressionRatio float64 // OriginalTokens / CompactedTokens; 0 when CompactedTokens is 0

	// CreatedAt is when the record was really made. The event's own timestamp is deliberately
	// older. Of two records the later is the one with the later CreatedAt, then the greater RecordID.
	CreatedAt time.Time
	// Level is 0 for a window and 1 + the highest level absorbed otherwise.
	Level int
	// Branch of every covered event.
	Branch string

	Covered  []Ref
	Absorbed []string

	// Through names the newest event of the branch when the window was chosen.
	Through Ref
	// After is set only for a summary of a live invocation's tool rounds: the event it stands behind.
	After Ref
	// Agent is the author of the covered rounds, never the user; set exactly when After is. Such a
	// record covers no event of anybody else.
	Agent string

	Trigger Trigger
	Focus   string
	Note    string
	Model   string
	Usage   Usage
}

// Later reports whether m was made after other.
func (m *Metadata) Later(other *Metadata) bool {
	if !m.CreatedAt.Equal(other.CreatedAt) {
		return m.CreatedAt.After(other.CreatedAt)
	}
	return m.RecordID > other.RecordID
}

// MidTurn reports whether m summarizes tool rounds of a turn that was still running. The view shows
// such a summary directly after the event that After names, not at the front.
func (m *Metadata) MidTurn() bool { return !m.After.IsZero() }
