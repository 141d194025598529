package audit

import (
	"context"
	"encoding/json"

	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/persistence"
)

// checkLedger checks the totals that a guard stored with the events: each snapshot can be read, is that
// of this session, and counts on from the one before. A copied snapshot names another session. A forged
// one, and one of two processes that did not know of each other, has less than the one before.
func (e *examination) checkLedger(ctx context.Context, snap *persistence.Snapshot) error {
	var before *Ledger
	found := false
	for _, row := range e.rows {
		l, err := ledgerOf(row.Seq, row.Event)
		found = found || l != nil || err != nil
		switch {
		case err != nil:
			e.find(row.Seq, row.ID, RuleGuard, "the guard's totals cannot be read: %v", err)
		case l == nil:
		case l.owner != e.Name():
			e.find(row.Seq, row.ID, RuleGuard, "the guard's totals are those of the session %q: they were copied or forged", l.owner)
		default:
			if before != nil {
				if less := l.less(before); less != "" {
					e.find(row.Seq, row.ID, RuleGuard, "%s since event %d, but totals only grow: they were changed or forged, or two processes used the session at once", less, before.Seq)
				}
			}
			before = l
		}
	}
	if found {
		return nil // rule state checks that the session's state is that of the newest event
	}
	var value []byte
	return answers(ctx, snap, "session_state", "SELECT value FROM session_state WHERE session = ? AND key = ?", []any{e.key, guard.StateKey}, []any{&value}, func() {
		var text any
		if err := json.Unmarshal(value, &text); err != nil {
			e.find(0, "", RuleGuard, "the guard's totals in the session's state cannot be read: %v", err)
			return
		}
		switch l, err := decodeLedger(0, text); {
		case err != nil:
			e.find(0, "", RuleGuard, "the guard's totals in the session's state cannot be read: %v", err)
		case l.owner != e.Name():
			e.find(0, "", RuleGuard, "the guard's totals in the session's state are those of the session %q: they were copied or forged", l.owner)
		}
	})
}
