package audit

import (
	"context"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// States of a compaction.
const (
	// Current: its summary is shown.
	Current = "current"
	// Absorbed: another record replaced it together with others.
	Absorbed = "absorbed"
	// Replaced: a later record covers everything that it covers.
	Replaced = "replaced"
	// Copy: an earlier record has the same ID, and only that one counts.
	Copy = "copy"
	// Unreadable: it neither hides nor shows anything.
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
	// Scope is the isolation scope of the events, which only those of ADK v2 have.
	Scope string `json:"scope,omitempty"`
	// Agent is set for a summary of tool rounds of a turn that was still running.
	Agent     string `json:"agent,omitempty"`
	CreatedAt string `json:"created_at,omitempty"`
	Start     string `json:"start,omitempty"`
	End       string `json:"end,omitempty"`
	// Covers counts the events of its own window, Absorbs the records that it absorbed, Events all
	// events that it covers.
	Covers  int `json:"covers"`
	Absorbs int `json:"absorbs"`
	Events  int `json:"events"`
	// Sizes of the covered events and of the summary (estimates), and the counts that the
	// summarizer's model reported.
	OriginalTokens  int     `json:"original_tokens"`
	CompactedTokens int     `json:"compacted_tokens"`
	Ratio           float64 `json:"ratio"`
	Model           string  `json:"model,omitempty"`
	PromptTokens    int     `json:"summarizer_prompt_tokens"`
	OutputTokens    int     `json:"summarizer_output_tokens"`
	Focus           string  `json:"focus,omitempty"`
	Note            string  `json:"note,omitempty"`
	// Values are the exact values of the covered events that the record holds, the best first. A view lists some
	// of them behind its newest summary, in up to LedgerTokens tokens if that is the summary of this record.
	Values       []Value `json:"values,omitempty"`
	LedgerTokens int     `json:"ledger_tokens,omitempty"`
	// Said is what the user said in the covered events, oldest first, as far as the record holds it. A view shows up to
	// SaidTokens tokens of it in front of these values.
	Said       []Said `json:"said,omitempty"`
	SaidTokens int    `json:"said_tokens,omitempty"`
	// Kept is the share of exact values of these events that the view has with the record, nil where nobody measured it, and
	// Invented how many values were cut out of the summary because the events do not have them.
	Kept     *float64 `json:"kept,omitempty"`
	Invented int      `json:"invented,omitempty"`
	// State is [Current], [Absorbed], [Replaced], [Copy] or [Unreadable]; empty in a history, which
	// has no view.
	State string `json:"state,omitempty"`
	// AbsorbedBy is the record that absorbed it, by the mark in the file.
	AbsorbedBy string `json:"absorbed_by,omitempty"`
	Summary    string `json:"summary,omitempty"`
	// Problem is the reason why it cannot be read.
	Problem string `json:"problem,omitempty"`
}

// Value is an exact value in a record. Event is the ID of the event that has it.
type Value struct {
	Text   string  `json:"text"`
	Kind   string  `json:"kind,omitempty"`
	Author string  `json:"author,omitempty"`
	Event  string  `json:"event,omitempty"`
	Time   string  `json:"time,omitempty"`
	Uses   int     `json:"uses,omitempty"`
	Score  float64 `json:"score"`
}

// Said is what the user said in one message, or its beginning and end. Event is the ID of the message.
type Said struct {
	Text  string `json:"text"`
	Event string `json:"event,omitempty"`
	Time  string `json:"time,omitempty"`
}

// ValueTexts are the texts of the record's values, in one line.
func (c *Compaction) ValueTexts() string {
	texts := make([]string, len(c.Values))
	for i, v := range c.Values {
		texts[i] = v.Text
	}
	return strings.Join(texts, " | ")
}

// compactionOf returns the record of a row, without its state.
func compactionOf(row *sessionfile.Row) Compaction {
	c := Compaction{Seq: row.Seq, RecordID: row.RecordID, AbsorbedBy: row.CoveredBy}
	m, err := record.From(row.Event)
	switch {
	case err != nil:
		c.State, c.Problem = Unreadable, err.Error()
		return c
	case record.IsForeign(row.Event):
		c.State, c.Problem = Unreadable, "another implementation of ADR-009 stored it as a message; it hides nothing"
		return c
	case adk.IsCompaction(row.Event):
		c.State, c.Problem = Unreadable, "ADK's own compaction wrote it; it hides nothing. If it is still on, remove EventsCompactionConfig (runner.Config.Compaction)"
		return c
	case m == nil:
		c.State, c.Problem = Unreadable, "the event is marked as a record but is not one"
		return c
	}
	c.RecordID, c.Kind, c.Trigger, c.Level, c.Agent = m.RecordID, string(m.Kind), string(m.Trigger), m.Level, m.Agent
	c.Branch, c.Scope = adk.SplitLane(m.Branch)
	c.CreatedAt, c.Start, c.End = stamp(m.CreatedAt), stamp(m.StartTimestamp), stamp(m.EndTimestamp)
	c.Covers, c.Absorbs, c.Events = len(m.Covered), len(m.Absorbed), m.EventCount
	c.OriginalTokens, c.CompactedTokens, c.Ratio = m.OriginalTokens, m.CompactedTokens, m.CompressionRatio
	c.Model, c.PromptTokens, c.OutputTokens = m.Model, m.Usage.PromptTokens, m.Usage.OutputTokens
	c.Focus, c.Note = m.Focus, m.Note
	for _, v := range m.Values {
		one := Value{Text: v.Text, Kind: v.Kind, Author: v.Author, Event: v.Event, Uses: v.Uses, Score: v.Score}
		if !v.At.IsZero() {
			one.Time = stamp(v.At)
		}
		c.Values = append(c.Values, one)
	}
	for _, s := range m.Said {
		one := Said{Text: s.Text, Event: s.Event}
		if !s.At.IsZero() {
			one.Time = stamp(s.At)
		}
		c.Said = append(c.Said, one)
	}
	c.LedgerTokens, c.SaidTokens = m.LedgerTokens, m.SaidTokens
	c.Kept, c.Invented = m.Kept, m.Invented
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

// compactions derives the state of each record. The view decides which are current, and the mark in
// the file which were absorbed; a record that is neither was replaced by a later one that covers
// everything it covers. The state of a copy is decided first: it has the ID of a record that is
// shown, but is not shown itself.
func (l *loaded) compactions() []Compaction {
	shown := map[string]bool{}
	for _, ev := range l.summaries() {
		shown[ev.ID] = true
	}
	out, seen := []Compaction{}, map[string]bool{}
	for _, row := range l.rows {
		if !row.Record && !record.Is(row.Event) && !record.IsForeign(row.Event) && !adk.IsCompaction(row.Event) {
			continue
		}
		c := compactionOf(row)
		switch {
		case c.State != "":
		case seen[c.RecordID]:
			c.State, c.AbsorbedBy = Copy, ""
		case shown[c.RecordID]:
			c.State = Current
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
