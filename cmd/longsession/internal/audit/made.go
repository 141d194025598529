package audit

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/record"
)

// Made counts the records of a session by what they are for, as [compaction.ActivityIn] does: a copy counts once, and one
// that cannot be read does not count.
type Made struct {
	// Compactions counts summaries of the conversation, Merges those that only replace other summaries, and Checkpoints
	// reports on finished tasks.
	Compactions int `json:"compactions_made"`
	Merges      int `json:"merges_made"`
	Checkpoints int `json:"checkpoints_made"`
}

// Figure is for people, behind the word compactions: "8", or "8, and 3 merges".
func (m Made) Figure() string { return m.with(terminal.Commas(m.Compactions), ", and ") }

// Phrase is for people: "8 compactions", or "8 compactions and 3 merges".
func (m Made) Phrase() string { return m.with(terminal.Plural(m.Compactions, "compaction"), " and ") }

func (m Made) with(text, and string) string {
	if m.Merges > 0 {
		text += and + terminal.Plural(m.Merges, "merge")
	}
	return text
}

// plus adds the counts of another session.
func (m Made) plus(other Made) Made {
	return Made{m.Compactions + other.Compactions, m.Merges + other.Merges, m.Checkpoints + other.Checkpoints}
}

// counted counts records that come one by one.
type counted struct {
	Made
	seen map[string]bool
}

// take counts an event, if it is a record.
func (c *counted) take(ev *session.Event) {
	m, err := record.From(ev)
	if err != nil || m == nil || c.seen[m.RecordID] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[m.RecordID] = true
	switch {
	case m.Kind == record.KindCheckpoint:
		c.Checkpoints++
	case m.Trigger == record.TriggerMerge:
		c.Merges++
	default:
		c.Made.Compactions++
	}
}
