package persistence

import (
	"context"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// eraser schedules truncations of the write-ahead log: after a deletion, and after a transaction that made
// the log large. SQLite overwrites deleted data in the file (secure_delete), but the log keeps it until a
// checkpoint copies the log into the file and truncates it. A running reader prevents the checkpoint. The
// writer then tries again after 1, 2, 4, ... further transactions, at most maxEraseWait.
type eraser struct {
	pending bool
	// wait is the number of transactions to skip before the next try, and passed the number skipped
	// so far.
	wait, passed int
}

// maxEraseWait is the largest number of transactions between two tries.
const maxEraseWait = 64

// deleted records that the running transaction deletes data.
func (e *eraser) deleted() { *e = eraser{pending: true} }

// grown records that the running transaction makes the log much larger than usual. Without a truncation,
// the log would keep that size until Close.
func (e *eraser) grown() {
	if !e.pending {
		*e = eraser{pending: true}
	}
}

// due reports whether to try now. The writer calls it once after each transaction.
func (e *eraser) due() bool {
	if !e.pending {
		return false
	}
	e.passed++
	return e.passed > e.wait
}

// tried records the result of a try.
func (e *eraser) tried(done bool) {
	if done {
		*e = eraser{}
		return
	}
	e.wait, e.passed = min(max(1, 2*e.wait), maxEraseWait), 0
}

// erase truncates the log if a transaction deleted data or added much. It does not wait for locks, and
// ignores failures, because the transaction is committed in any case.
func (w *writer) erase() {
	if !w.eraser.due() {
		return
	}
	ctx := context.Background()
	busy, frames, folded := 1, 0, 0
	if err := sessionfile.Pragmas(ctx, w.Conn, "busy_timeout = 0"); err == nil {
		err = w.Conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &folded)
		w.eraser.tried(err == nil && busy == 0)
		w.unmarked = sessionfile.MarkEvery // the file lost its mark together with the log
	}
	_ = sessionfile.Pragmas(ctx, w.Conn, fmt.Sprintf("busy_timeout = %d", w.busy.Milliseconds()))
}
