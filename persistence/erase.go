package persistence

import (
	"context"
	"fmt"
)

// eraser gets rid of what was deleted. SQLite overwrites it in the file (secure_delete), but the
// write-ahead log keeps it until the log is folded into the file and cut. A reading that goes on is in
// the way of that; then it is tried again after later transactions, ever fewer of them.
type eraser struct {
	pending bool
	// wait is how many transactions to let pass before the next try, and passed how many have.
	wait, passed int
}

// maxEraseWait bounds how many transactions pass between two tries.
const maxEraseWait = 64

// deleted notes that the transaction that runs deletes something.
func (e *eraser) deleted() { *e = eraser{pending: true} }

// due is called after each transaction.
func (e *eraser) due() bool {
	if !e.pending {
		return false
	}
	e.passed++
	return e.passed > e.wait
}

func (e *eraser) tried(done bool) {
	if done {
		*e = eraser{}
		return
	}
	e.wait, e.passed = min(max(1, 2*e.wait), maxEraseWait), 0
}

// erase cuts the log if something was deleted. It waits for nobody, and a failure is no matter: what was
// to be stored is.
func (w *writer) erase() {
	if !w.eraser.due() {
		return
	}
	ctx := context.Background()
	busy, frames, folded := 1, 0, 0
	if err := pragmas(ctx, w.conn, "busy_timeout = 0"); err == nil {
		err = w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &folded)
		w.eraser.tried(err == nil && busy == 0)
		w.unmarked = markEvery // the file has lost its mark with the log
	}
	_ = pragmas(ctx, w.conn, fmt.Sprintf("busy_timeout = %d", w.busy.Milliseconds()))
}
