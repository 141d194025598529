package persistence

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// An answer belongs to the nearest call of its ID before it, first of its own branch, else of any: what
// package internal/adk says. It is stored and not looked for at every reading, because providers use
// IDs again: by the ID alone a history's calls would all belong together.
const (
	selectUnit = `SELECT unit FROM events WHERE session = ? AND seq = coalesce(
		(SELECT max(seq) FROM calls WHERE session = ? AND id = ? AND orphan = 0 AND branch = ?),
		(SELECT max(seq) FROM calls WHERE session = ? AND id = ? AND orphan = 0))`
	updateUnit = `UPDATE events SET unit = ?3 WHERE session = ?1 AND unit = ?2`
	insertCall = `INSERT INTO calls (session, id, orphan, branch, seq)
		SELECT session, ?, ?, branch, seq FROM events WHERE key = ?
		RETURNING EXISTS (SELECT 1 FROM calls o WHERE o.session = ? AND o.id = ? AND o.orphan = 1)`
	updateConflicted = `UPDATE sessions SET contested = 1 WHERE key = ?`
)

// unit is what an event belongs to by its calls and answers.
type unit struct {
	any     bool
	number  int64    // 0: a new one
	others  []int64  // those that the event makes one with it
	orphans []string // answers that no call precedes
}

// column returns what insertEvent makes the unit column of.
func (u unit) column() any {
	if !u.any {
		return nil
	}
	return u.number
}

// findUnit looks for the calls that an event answers.
func (w *writer) findUnit(session int64, r *row) (unit, error) {
	u := unit{any: len(r.calls)+len(r.answers) > 0}
	for _, id := range r.answers {
		var number int64
		err := w.unitOfCall.QueryRowContext(context.Background(), session, session, id, r.branch, session, id).Scan(&number)
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

// tie stores what the event of a key belongs to, for answers to come.
func (w *writer) link(session, key int64, r *row, u unit) error {
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
	for _, id := range r.calls {
		// The answers that came before all calls of an ID belong to the last one of them, so units that
		// are stored would have to be parted again.
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
