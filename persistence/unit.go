package persistence

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

// An answer belongs to the nearest call with its ID before it, first in its own branch and then in
// any. Package internal/adk has the same rule. The unit is stored, because providers reuse IDs: by
// the ID alone, all calls of a long history would be one unit. For example,
//
//	1 agent  calls a     unit 1
//	2 agent  answers a   unit 1
//	3 agent  calls a     unit 3: a new call with the ID of an old one
//	4 agent  answers a   unit 3: the nearest call is 3
const (
	// selectUnit finds the unit of the call that an answer belongs to.
	selectUnit = `SELECT unit FROM events WHERE session = ? AND seq = coalesce(
		(SELECT max(seq) FROM calls WHERE session = ? AND id = ? AND orphan = 0 AND branch = ?),
		(SELECT max(seq) FROM calls WHERE session = ? AND id = ? AND orphan = 0))`
	// updateUnit joins two units.
	updateUnit = `UPDATE events SET unit = ?3 WHERE session = ?1 AND unit = ?2`
	// insertCall stores a call or an orphaned answer, and returns whether an orphaned answer with
	// the same ID exists.
	insertCall = `INSERT INTO calls (session, id, orphan, branch, seq)
		SELECT session, ?, ?, branch, seq FROM events WHERE key = ?
		RETURNING EXISTS (SELECT 1 FROM calls o WHERE o.session = ? AND o.id = ? AND o.orphan = 1)`
	updateConflicted = `UPDATE sessions SET contested = 1 WHERE key = ?`
)

// unit is the unit of an event, by its calls and answers.
type unit struct {
	any     bool
	number  int64    // 0 for a new unit, which gets the number of the event
	others  []int64  // units that the event joins with this one, because it answers calls of several
	orphans []string // IDs of answers without a call before them
}

// column returns the value for the unit column of insertEvent.
func (u unit) column() any {
	if !u.any {
		return nil
	}
	return u.number
}

// findUnit finds the units of the calls that an event answers.
func (w *writer) findUnit(session int64, r *eventrow.Row) (unit, error) {
	u := unit{any: len(r.Calls)+len(r.Answers) > 0}
	for _, id := range r.Answers {
		var number int64
		err := w.unitOfCall.QueryRowContext(context.Background(), session, session, id, r.Branch, session, id).Scan(&number)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			u.orphans = append(u.orphans, id)
		case err != nil:
			return u, err
		default:
			u.others = append(u.others, number)
		}
	}
	if len(u.others) > 0 {
		slices.Sort(u.others)
		u.others = slices.Compact(u.others)
		u.number, u.others = u.others[0], u.others[1:]
	}
	return u, nil
}

// link joins the units that an event answers, and stores its calls and orphaned answers, so that
// later events find them. A call with the ID of an earlier orphaned answer makes the session
// conflicted. For example, of
//
//	1 agent  answers a   no call before it: an orphan
//	2 agent  calls a
//
// the view joins both, and the stored units do not.
func (w *writer) link(session, key int64, r *eventrow.Row, u unit) error {
	for _, other := range u.others {
		if err := w.do(w.joinUnit, session, other, u.number); err != nil {
			return err
		}
	}
	conflicted := false
	for _, id := range u.orphans {
		var known bool
		if err := w.addCall.QueryRowContext(context.Background(), id, 1, key, session, id).Scan(&known); err != nil {
			return err
		}
	}
	for _, id := range r.Calls {
		// Orphaned answers belong to the last call with their ID, so each further call would move
		// them to another unit. The whole session is loaded instead.
		var claims bool
		if err := w.addCall.QueryRowContext(context.Background(), id, 0, key, session, id).Scan(&claims); err != nil {
			return err
		}
		conflicted = conflicted || claims
	}
	if conflicted {
		return w.do(w.setConflicted, session)
	}
	return nil
}
