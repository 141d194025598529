package audit

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// checkNumbers checks that events are numbered 1, 2, 3... and that the session has the right count.
// It reports whether both hold.
func (e *examination) checkNumbers() bool {
	before, last := len(e.found), int64(0)
	for _, row := range e.rows {
		switch {
		case row.Seq < 1:
			e.find(0, row.ID, RuleAppended, "has the number %d, but events are numbered from 1: another program inserted it; restore a backup", row.Seq)
			continue
		case row.Seq-1 > last:
			e.find(last+1, "", RuleAppended, "%s missing: rows were deleted or renumbered; restore a backup", span(last+1, row.Seq-1))
		}
		last = row.Seq
	}
	if e.Events != last {
		e.find(0, "", RuleAppended, "the newest event is %d according to the session, but it is %d", e.Events, last)
	}
	return len(e.found) == before
}

func span(from, to int64) string {
	if from == to {
		return fmt.Sprintf("event %d is", from)
	}
	return fmt.Sprintf("events %d to %d are", from, to)
}

// checkRows checks that events and records can be read and that records are marked as records.
func (e *examination) checkRows() {
	for _, row := range e.rows {
		if row.Err != nil {
			e.find(row.Seq, row.ID, RuleEvent, "cannot be read, so the rest of this session was not checked: %v", row.Err)
			continue
		}
		m, err := record.From(row.Event)
		switch {
		case err != nil:
			e.find(row.Seq, row.ID, RuleRecord, "the compaction record cannot be read, so it hides and shows nothing: %v", err)
		case m == nil && row.Record:
			e.find(row.Seq, row.ID, RuleRecord, "is marked as the record %q but is not one", row.RecordID)
		case m != nil && (!row.Record || m.RecordID != row.RecordID):
			e.find(row.Seq, row.ID, RuleRecord, "is the record %q but marked as %s", m.RecordID, quoteOr(row.Record, row.RecordID))
		}
	}
}

// checkOrder checks that keys and numbers rise together: rows get their keys in the order in which
// they are inserted. An event that was moved, or inserted between others, has a key out of order.
func (e *examination) checkOrder(ctx context.Context, snap *persistence.Snapshot) error {
	const question = `SELECT seq, id, key, before FROM
		(SELECT seq, id, key, lag(key) OVER (ORDER BY seq) AS before FROM events WHERE session = ?) WHERE key < before ORDER BY seq`
	err := answers(ctx, snap, question, func(rows *sql.Rows) error {
		var seq, key, before int64
		var id string
		if err := rows.Scan(&seq, &id, &key, &before); err != nil {
			return err
		}
		e.find(seq, id, RuleAppended, "was stored before its predecessor (row %d, and row %d): events were reordered or inserted; restore a backup", key, before)
		return nil
	}, e.key)
	if err != nil {
		return fmt.Errorf("table events: %w", err)
	}
	return nil
}

// checkTypes checks that text is stored as text. SQLite can store the same bytes as a blob, which
// the views of the file cannot read and which has the same digest.
func (e *examination) checkTypes(ctx context.Context, snap *persistence.Snapshot) error {
	columns := []string{"id", "time", "invocation_id", "author", "branch", "record_id", "covered_by", "content", "actions",
		"usage_metadata", "custom_metadata", "long_running_tool_ids", "extra"}
	var names, wrong []string
	for _, column := range columns {
		names = append(names, "CASE WHEN typeof("+column+") NOT IN ('text', 'null') THEN '"+column+" ' ELSE '' END")
		wrong = append(wrong, "typeof("+column+") NOT IN ('text', 'null')")
	}
	question := "SELECT seq, CAST(id AS TEXT), " + strings.Join(names, " || ") + " FROM events WHERE session = ? AND (" + strings.Join(wrong, " OR ") + ") ORDER BY seq"
	err := answers(ctx, snap, question, func(rows *sql.Rows) error {
		var seq int64
		var id, found string
		if err := rows.Scan(&seq, &id, &found); err != nil {
			return err
		}
		e.find(seq, id, RuleEvent, "is not stored as text, so the views of the file cannot show it: column %s: it was changed", strings.Join(strings.Fields(found), ", "))
		return nil
	}, e.key)
	if err != nil {
		return fmt.Errorf("table events: %w", err)
	}
	return nil
}
