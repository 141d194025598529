package persistence

import (
	"strings"
	"unicode/utf8"
)

const (
	updateCopy = `UPDATE events SET covered_by = record_id WHERE key = ?1
		AND EXISTS (SELECT 1 FROM events o WHERE o.session = ?2 AND o.record_id = ?3 AND o.key < ?1)`
	updateCovered = `UPDATE events SET covered_by = ?1 WHERE session = ?2 AND id = ?3 AND branch = ?4
		AND (?5 = '' OR author = ?5) AND record_id IS NULL AND covered_by IS NULL`
	updateAbsorbed = `UPDATE events SET covered_by = ?1 WHERE session = ?2 AND record_id = ?3 AND branch = ?4
		AND key <> ?5 AND covered_by IS NULL`
	updateAnchor = `UPDATE events SET anchor = a.seq FROM events a
		WHERE events.key = ?1 AND a.session = ?2 AND a.id = ?3 AND a.record_id IS NULL`
)

// cover marks what the record of an event stands for, so that a reading need not load it. The record
// stays the truth. covered_by tells all of it only as long as every reference names something that is
// there, of the record's branch, and that nothing stands for yet: then the records that none covers are
// those that the view shows, and the events that none covers those that it does not hide. A record for
// which that is not so, written by two processes at once or by somebody else, makes the session contested:
// then clean is false.
func (w *writer) markCovered(session, key int64, r *row) (clean bool, err error) {
	m := r.meta
	if n, err := w.affected(w.ignoreCopy, key, session, m.RecordID); n > 0 || err != nil {
		return true, err // the view takes the first record of an ID
	}
	agent := ""
	if m.MidTurn() {
		agent = m.Agent
	}
	clean = r.branch == m.Branch
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

// unambiguous reports whether an ID in a record can name one stored ID only. Bytes that are not UTF-8 are
// U+FFFD in a record, so that two events may have the ID that it names.
func unambiguous(id string) bool { return id != "" && !strings.ContainsRune(id, utf8.RuneError) }
