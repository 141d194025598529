package record

import "time"

// Key is the CustomMetadata key under which a record is stored.
const Key = "_adk_compaction"

// Version is the only version of the format that this package reads and writes. [Decode] refuses a
// record of any other version, so such a record neither hides events nor shows a summary.
const Version = 1

// Kind is the kind of text that a record holds.
type Kind string

const (
	// KindSummary is a summary of earlier turns or tool rounds.
	KindSummary Kind = "summary"
	// KindCheckpoint is a report on a finished task.
	KindCheckpoint Kind = "checkpoint"
)

// Trigger is why a record was written.
type Trigger string

// The triggers, as stored.
const (
	TriggerInvocations Trigger = "invocations" // enough turns began
	TriggerTokens      Trigger = "tokens"      // the prompt was too large
	TriggerManual      Trigger = "manual"      // the app asked for it
	TriggerCheckpoint  Trigger = "checkpoint"  // the app reported a finished task
	TriggerMerge       Trigger = "merge"       // two summaries became one
)

// Ref names one stored event.
//
// ID is compared first. InvocationID, Author and Timestamp, cut to microseconds, find the event if
// no event has that ID: Vertex AI gives events other IDs on every read. See [Index.Find].
type Ref struct {
	ID           string
	InvocationID string
	Timestamp    time.Time
	Author       string
}

// IsZero reports whether the reference is empty.
func (r Ref) IsZero() bool { return r.ID == "" && r.hasNoAltKey() }

func (r Ref) hasNoAltKey() bool {
	return r.InvocationID == "" && r.Author == "" && r.Timestamp.IsZero()
}

// Usage is the number of tokens that the provider reported for the summarizer's own model call. The
// zero value means that nothing was reported.
type Usage struct {
	PromptTokens int
	OutputTokens int
}

// Value is an exact value that the events of a record contain, such as an order number or a date.
type Value struct {
	Text string // as it is shown, with words of its context, such as "order ORD-17"
	Kind string // what it is, such as "date" or "identifier"; see package values
	// Author is the author of the event that contains it, Event the ID of that event, and At its timestamp.
	Author string
	Event  string
	At     time.Time
	Uses   int     // how often it was mentioned again
	Score  float64 // how much it is worth, for the order among values of all records
}

// Metadata is one compaction record.
//
// A record stands for the events in Covered and for everything that the records in Absorbed stand
// for. The counts and times describe all of that. They inform people and order the summaries of a
// view, but never decide what is hidden. Token counts are estimates of package tokens unless noted
// otherwise.
type Metadata struct {
	// RecordID is a UUID. It is independent of the ID of the record's event, which not every
	// backend keeps.
	RecordID string
	Kind     Kind

	// The first and the last, by time, of all events that the record stands for.
	StartTimestamp    time.Time
	EndTimestamp      time.Time
	StartInvocationID string
	EndInvocationID   string

	// CompactedContentJSON is the summary as a genai.Content in JSON, role "model".
	CompactedContentJSON string
	// Uncut is the prose of a summary that was made shorter than it should be, because a prompt did not fit into the
	// context window otherwise; "" for any other. Views do not show it. A later record shows it again once there is
	// room, and summaries that absorb this record are written from it.
	Uncut string

	EventCount       int     // events that the record stands for
	OriginalTokens   int     // what they took up in a prompt
	CompactedTokens  int     // what the summary takes up
	CompressionRatio float64 // OriginalTokens / CompactedTokens; 0 when CompactedTokens is 0

	// CreatedAt is when the record was made. The timestamp of the record's event is older: it is
	// the session's last update time, so that storing a record makes no other handle stale.
	CreatedAt time.Time
	// Level is 0 for the summary of a window, and one more than the highest level it absorbs for a
	// merge.
	Level int
	// Branch of every covered event.
	Branch string

	Covered  []Ref    // the events of the record's own window
	Absorbed []string // the IDs of earlier records that this one replaces

	// Through names the newest event of the branch when the window was chosen.
	Through Ref
	// CheckpointThrough is the furthest Through of all checkpoints that the record stands in for, if it
	// absorbs any. It answers the calls that asked for them.
	CheckpointThrough Ref
	// After is set only for a summary of what one agent did since somebody else spoke, most often the tool rounds of a
	// turn that was still running. It names the event behind which the view shows the summary.
	After Ref
	// Agent is set exactly when After is: the author of the tool rounds, never the user. Such a
	// record covers no event of another author.
	Agent string

	Trigger Trigger
	Focus   string // what the app asked the summarizer to concentrate on
	Note    string // the app's own note
	Model   string // that wrote the summary, "" if no model did
	Usage   Usage

	// Values are exact values of the covered events, the best first: candidates for the list that the view shows
	// behind the newest summary. More may be stored than are shown. A record that absorbs others has theirs, too.
	// At most 4,096 are stored and read, each of at most 1,024 bytes of text.
	Values []Value
	// LedgerTokens is how many tokens that list may take up while this record is the newest that has a place for
	// it. It is stored, so that each process and each tool shows the same bytes whatever its configuration is.
	LedgerTokens int

	// Said are texts of the user among the covered events, oldest first, word for word but for what may be a secret, and
	// for the middle of long ones: candidates for what the view shows in front of that list. Only Text, Event and At are
	// used. A record that absorbs others has theirs, too. At most 1,024 are stored and read, each of at most 8 KiB,
	// together of at most 64 KiB.
	Said []Value
	// SaidTokens is how many tokens of them may be shown while this record is the newest that has a place for them,
	// stored for the reason of LedgerTokens.
	SaidTokens int
	// UserTokens is how many tokens the user said in all events that the record stands for, 0 if nobody counted them. Said
	// may hold fewer.
	UserTokens int
	// AsksSecret means that the last text that the record stands for asks for a password or the like, so that the user's
	// next message may be one.
	AsksSecret bool

	// Kept is the share of exact values of what the record stands for that the view has with the record, from 0 to 1: in the
	// summary, and in what it shows behind. Nil: nobody has measured it, as where no model wrote the summary. Invented is how
	// many values were cut out of a model's summary because nothing that it stands for has them, or says the opposite.
	Kept     *float64
	Invented int
}

// Later reports whether m was made after other: by CreatedAt, and by RecordID if both are equal.
func (m *Metadata) Later(other *Metadata) bool {
	if !m.CreatedAt.Equal(other.CreatedAt) {
		return m.CreatedAt.After(other.CreatedAt)
	}
	return m.RecordID > other.RecordID
}

// MidTurn reports whether m summarizes tool rounds of a turn that was still running. The view shows
// such a summary directly after the event that After names, not at the front.
func (m *Metadata) MidTurn() bool { return !m.After.IsZero() }
