package persistence

import (
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

const (
	// updateCopy marks a record as covered by its own ID if an earlier record has the same ID.
	updateCopy = `UPDATE events SET covered_by = record_id WHERE key = ?1
		AND EXISTS (SELECT 1 FROM events o WHERE o.session = ?2 AND o.record_id = ?3 AND o.key < ?1)`
	// updateCovered marks one event of a branch, unless a record covers it already. ?5 is the agent
	// of a mid-turn record, "" for any author.
	updateCovered = `UPDATE events SET covered_by = ?1 WHERE session = ?2 AND id = ?3 AND branch = ?4
		AND (?5 = '' OR author = ?5) AND record_id IS NULL AND covered_by IS NULL`
	// updateAbsorbed marks one earlier record of a branch, unless a record absorbs it already.
	updateAbsorbed = `UPDATE events SET covered_by = ?1 WHERE session = ?2 AND record_id = ?3 AND branch = ?4
		AND key <> ?5 AND covered_by IS NULL`
	// updateAnchor stores the event after which the view shows the summary of a mid-turn record.
	// For example, of
	//
	//	1 user    a question
	//	2 agent   calls a tool   covered by r
	//	3 agent   the result     covered by r
	//	4 record r of 2 and 3, with After = 1
	//
	// the anchor of row 4 is 1. The view shows the summary after event 1, so GetActive loads that
	// event even if another record covers it.
	updateAnchor = `UPDATE events SET anchor = a.seq FROM events a
		WHERE events.key = ?1 AND a.session = ?2 AND a.id = ?3 AND a.record_id IS NULL`
)

// markCovered sets covered_by in the rows that a new record covers or absorbs, so that readers can
// skip them. For example, with record r of events 1 and 2,
//
//	1 user    covered_by r
//	2 agent   covered_by r
//	3 record r
//
// GetActive skips 1 and 2, unless the view shows them for another reason.
//
// The record remains the truth, and covered_by is an index of it. The index is exact while every
// reference names a stored event or record of the record's branch that no other record covers. Then
// the uncovered records are those that the view shows, and the uncovered events are those that it
// does not hide.
//
// clean is false for a record that breaks this rule, such as a second record of event 1 by another
// process, or a record with a reference to a missing event. The session is then conflicted, and is
// always loaded whole.
func (w *writer) markCovered(session, key int64, r *eventrow.Row) (clean bool, err error) {
	m := r.Meta
	if n, err := w.affected(w.ignoreCopy, key, session, m.RecordID); n > 0 || err != nil {
		return true, err // of several records with one ID, the view takes the first
	}
	agent := ""
	if m.MidTurn() {
		agent = m.Agent
	}
	clean = r.Branch == m.Branch
	once := func(n int64, err error) error {
		clean = clean && n == 1
		return err
	}
	for _, ref := range m.Covered {
		if !unambiguous(ref.ID) {
			clean = false
			continue
		}
		if err := once(w.affected(w.coverEvent, m.RecordID, session, ref.ID, m.Branch, agent)); err != nil {
			return false, err
		}
	}
	for _, id := range m.Absorbed {
		if err := once(w.affected(w.coverRecord, m.RecordID, session, id, m.Branch, key)); err != nil {
			return false, err
		}
	}
	if m.MidTurn() {
		clean = clean && unambiguous(m.After.ID)
		if err := once(w.affected(w.setAnchor, key, session, m.After.ID)); err != nil {
			return false, err
		}
	}
	return clean, nil
}

// unambiguous reports whether an ID in a record can match only one stored ID. In a record, bytes
// that are not UTF-8 are U+FFFD: the stored IDs "a\xff" and "a\xfe" are both "a\uFFFD" there.
func unambiguous(id string) bool { return id != "" && !strings.ContainsRune(id, utf8.RuneError) }
