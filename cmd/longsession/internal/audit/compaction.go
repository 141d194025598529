package audit

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// States of a compaction.
const (
	// Live: its summary is shown.
	Live = "live"
	// Absorbed: another record stands in for it.
	Absorbed = "absorbed"
	// Replaced: a later record stands for all that it stands for.
	Replaced = "replaced"
	// Copy: an earlier record has its ID, and that one counts.
	Copy = "copy"
	// Unreadable: it hides nothing and shows nothing.
	Unreadable = "unreadable"
)

// Compaction is one compaction record.
type Compaction struct {
	// Seq is the number of the record's event.
	Seq      int64  `json:"seq"`
	RecordID string `json:"record_id"`
	Kind     string `json:"kind,omitempty"`
	Trigger  string `json:"trigger,omitempty"`
	Level    int    `json:"level"`
	Branch   string `json:"branch,omitempty"`
	// Agent is set for a summary of tool rounds of a turn that was still running.
	Agent     string `json:"agent,omitempty"`
	CreatedAt string `json:"created_at,omitempty"`
	Start     string `json:"start,omitempty"`
	End       string `json:"end,omitempty"`
	// Covers counts the events of its own window, Absorbs the records that it stands in for, Events all
	// the events that it stands for.
	Covers  int `json:"covers"`
	Absorbs int `json:"absorbs"`
	Events  int `json:"events"`
	// Tokens of what it stands for and of the summary, estimated, and what the summarizer's model reported.
	OriginalTokens  int     `json:"original_tokens"`
	CompactedTokens int     `json:"compacted_tokens"`
	Ratio           float64 `json:"ratio"`
	Model           string  `json:"model,omitempty"`
	PromptTokens    int     `json:"summarizer_prompt_tokens"`
	OutputTokens    int     `json:"summarizer_output_tokens"`
	Focus           string  `json:"focus,omitempty"`
	Note            string  `json:"note,omitempty"`
	// State is [Live], [Absorbed], [Replaced], [Copy] or [Unreadable]; "" where the view was not looked at.
	State string `json:"state,omitempty"`
	// AbsorbedBy is the record that has absorbed it, as the file marks it.
	AbsorbedBy string `json:"absorbed_by,omitempty"`
	Summary    string `json:"summary,omitempty"`
	// Problem says why it cannot be read.
	Problem string `json:"problem,omitempty"`
}

// compactionOf returns what the record of a row says, without its state.
func compactionOf(row *persistence.Row) Compaction {
	c := Compaction{Seq: row.Seq, RecordID: row.RecordID, AbsorbedBy: row.CoveredBy}
	m, err := record.From(row.Event)
	switch {
	case err != nil:
		c.State, c.Problem = Unreadable, err.Error()
		return c
	case m == nil:
		c.State, c.Problem = Unreadable, "the event is marked as a record and is none"
		return c
	}
	c.RecordID, c.Kind, c.Trigger, c.Level, c.Branch, c.Agent = m.RecordID, string(m.Kind), string(m.Trigger), m.Level, m.Branch, m.Agent
	c.CreatedAt, c.Start, c.End = stamp(m.CreatedAt), stamp(m.StartTimestamp), stamp(m.EndTimestamp)
	c.Covers, c.Absorbs, c.Events = len(m.Covered), len(m.Absorbed), m.EventCount
	c.OriginalTokens, c.CompactedTokens, c.Ratio = m.OriginalTokens, m.CompactedTokens, m.CompressionRatio
	c.Model, c.PromptTokens, c.OutputTokens = m.Model, m.Usage.PromptTokens, m.Usage.OutputTokens
	c.Focus, c.Note = m.Focus, m.Note
	c.Summary, _ = m.Text()
	return c
}

// Compactions returns the records of a session in the order in which they were stored.
func (f *File) Compactions(ctx context.Context, s *Session) ([]Compaction, error) {
	l, err := f.load(ctx, s)
	if err != nil {
		return nil, err
	}
	return l.compactions(), nil
}

func (l *loaded) compactions() []Compaction {
	shown := map[string]bool{}
	for _, ev := range l.summaries() {
		shown[ev.ID] = true
	}
	out, seen := []Compaction{}, map[string]bool{}
	for _, row := range l.rows {
		if !row.Record && !record.Is(row.Event) {
			continue
		}
		c := compactionOf(row)
		switch {
		case c.State != "":
		case seen[c.RecordID]:
			c.State, c.AbsorbedBy = Copy, ""
		case shown[c.RecordID]:
			c.State = Live
		case c.AbsorbedBy != "":
			c.State = Absorbed
		default:
			c.State = Replaced
		}
		if c.State != Unreadable {
			seen[c.RecordID] = true
		}
		out = append(out, c)
	}
	return out
}

// summaries returns the summaries in the view.
func (l *loaded) summaries() []*session.Event {
	var out []*session.Event
	for _, ev := range l.view {
		if _, stored := l.seq[ev]; !stored && !view.IsStandIn(ev) {
			out = append(out, ev)
		}
	}
	return out
}
