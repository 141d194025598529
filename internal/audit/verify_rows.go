package audit

import (
	"fmt"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// checkNumbers: events are numbered 1, 2, 3... and the session says how many there are. It reports whether
// that is so.
func (e *examination) checkNumbers() bool {
	before, last := len(e.found), int64(0)
	for _, row := range e.rows {
		switch {
		case row.Seq < 1:
			e.find(0, row.ID, RuleAppended, "has the number %d, and events are numbered from 1: somebody else has put it there; restore a backup", row.Seq)
			continue
		case row.Seq-1 > last:
			e.find(last+1, "", RuleAppended, "%s missing: rows were deleted, or numbered anew; restore a backup", span(last+1, row.Seq-1))
		}
		last = row.Seq
	}
	if e.Events != last {
		e.find(0, "", RuleAppended, "the session says that its newest event is %d, and it is %d", e.Events, last)
	}
	return len(e.found) == before
}

func span(from, to int64) string {
	if from == to {
		return fmt.Sprintf("event %d is", from)
	}
	return fmt.Sprintf("events %d to %d are", from, to)
}

// checkRows: events and records can be read, and records are marked as such.
func (e *examination) checkRows() {
	for _, row := range e.rows {
		if row.Err != nil {
			e.find(row.Seq, row.ID, RuleEvent, "cannot be read, so nothing else of this session was checked: %v", row.Err)
			continue
		}
		m, err := record.From(row.Event)
		switch {
		case err != nil:
			e.find(row.Seq, row.ID, RuleRecord, "the compaction record cannot be read, so it hides and shows nothing: %v", err)
		case m == nil && row.Record:
			e.find(row.Seq, row.ID, RuleRecord, "is marked as the record %q and is none", row.RecordID)
		case m != nil && (!row.Record || m.RecordID != row.RecordID):
			e.find(row.Seq, row.ID, RuleRecord, "is the record %q and marked as %s", m.RecordID, called(row.Record, row.RecordID))
		case m != nil:
			e.checkCount(row, m)
		}
	}
}

// checkCount: a record counts no fewer events than it names, and those of what it absorbs. More, if storage
// could not resolve a reference when it was stored. Without a count it counts nothing.
func (e *examination) checkCount(row *persistence.Row, m *record.Metadata) {
	least := len(m.Covered)
	for _, id := range m.Absorbed {
		if a := e.records[id]; a != nil {
			least += a.EventCount
		}
	}
	if m.EventCount != 0 && m.EventCount < least {
		e.find(row.Seq, row.ID, RuleRecord, "the record says that it stands for %d events, and names %d: the record was changed", m.EventCount, least)
	}
}
