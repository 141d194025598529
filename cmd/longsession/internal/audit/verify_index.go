package audit

import (
	"context"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/textindex"
	"github.com/adk-go-ext/longsession/persistence"
)

// checkIndex checks the index of words, by which recall finds events: it has taken in no more events than there are,
// it has a row for each event that it counts, and it finds the newest event that a record covers. For example, if the
// rows of half of the events were deleted, a search would find nothing in those events, and nobody would notice.
//
// Only sessions that are searched have an index. One that an older version made is not checked: the next search makes
// it anew. The words that an app's Redact took out are not in the index, so an event that is not found by its words
// is a warning if others are found.
func (e *examination) checkIndex(ctx context.Context, snap *persistence.Snapshot) error {
	state, err := textindex.StateOf(ctx, snap, e.key)
	makeAnew := fmt.Sprintf("the next search makes it anew after PRAGMA foreign_keys = ON; DELETE FROM search_sessions WHERE session = %d", e.key)
	switch {
	case ctx.Err() != nil || stop(ctx, err):
		return err
	case err != nil:
		e.find(0, "", RuleIndex, "the index of words cannot be read: %v: %s", err, makeAnew)
	case !state.Exists:
	case state.IndexedTo > state.LastSeq || state.IndexedTo < 0:
		e.find(0, "", RuleIndex, "the index of words goes up to event %d, but the newest event is %d: %s", state.IndexedTo, state.LastSeq, makeAnew)
	case !state.Current:
	case state.Documents != state.Rows:
		e.find(0, "", RuleIndex, "the index of words counts %d events, but has %d: %s", state.Documents, state.Rows, makeAnew)
	case state.Documents == 0 || state.Newest == 0 || state.Answers:
	case state.AnswersAny:
		e.warn(RuleIndex, "the index of words does not find event %d: its words were redacted, or the event or the index was changed; %s", state.Newest, makeAnew)
	default:
		e.find(state.Newest, e.idOf(state.Newest), RuleIndex, "the index of words finds neither this event nor those in front of it: %s", makeAnew)
	}
	return nil
}

// idOf returns the ID of the event of a number, "" if there is none.
func (e *examination) idOf(seq int64) string {
	for _, row := range e.rows {
		if row.Seq == seq {
			return row.ID
		}
	}
	return ""
}
