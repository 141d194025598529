package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrLogMissing marks a file whose newest events are in a write-ahead log that is not next to it any more.
var ErrLogMissing = errors.New("its write-ahead log is missing")

// A file in use is two: the newest events are in the log. A copy of the first alone looks like a file that was
// closed. So the writer has the file itself say that there is a log, while the log says that there is none:
// it sets identity.wal, has SQLite fold that into the file, and unsets it, which is in the log only. Whoever
// reads both, or has SQLite back both up, sees 0; and when the last connection closes, SQLite folds the 0
// into the file. Whoever sees 1, and no log, has half.
const (
	setLogMark   = `UPDATE identity SET wal = 1`
	unsetLogMark = `UPDATE identity SET wal = 0`
	selectMark   = `SELECT wal FROM identity`

	// markEvery is after how many writes the mark is renewed. SQLite folds the log into the file by itself
	// when it has grown to autoCheckpoint pages, and the mark is gone until it is renewed; so that is to happen
	// later.
	markEvery      = 300
	autoCheckpoint = 4000
)

// markLog sets the mark. A failure is no matter: then the loss of the log is not noticed.
func (w *writer) markLog() {
	ctx := context.Background()
	w.unmarked = 0
	if _, err := w.conn.ExecContext(ctx, setLogMark); err == nil {
		_ = pragmas(ctx, w.conn, "wal_checkpoint(PASSIVE)")
	}
	_ = w.unmarkLog()
}

// unmarkLog sees to it that a file that is closed has no mark. It needs no lock if there is none.
func (w *writer) unmarkLog() error {
	ctx, marked := context.Background(), false
	if err := w.conn.QueryRowContext(ctx, selectMark).Scan(&marked); err != nil || !marked {
		return err
	}
	_, err := w.conn.ExecContext(ctx, unsetLogMark)
	return err
}

// wrote is called when writes have been committed and answered.
func (w *writer) countWrites(n int) {
	if w.unmarked += n; w.keepsLog && w.unmarked >= markEvery {
		w.markLog()
	}
}

// logMissing returns an error wrapping [ErrLogMissing] if a file says that there is a log, and there is none.
func logMissing(full string) error {
	if hasLog(full) {
		return nil
	}
	marked := false
	err := openAlone(full, func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, selectMark).Scan(&marked)
	})
	// A file that cannot be asked, such as one of the first schema, does not say so. If there is a log now,
	// somebody has begun to write.
	if err != nil || !marked || hasLog(full) {
		return nil
	}
	return fmt.Errorf("%w: %s-wal is not there, and the newest events are likely to be only in it, as if the file had been copied while an app used it: put that file back", ErrLogMissing, full)
}

// ignoreLogRemedy says how to use a file without its log.
const ignoreLogRemedy = "; to go on without what was in it, run: sqlite3 FILE 'UPDATE identity SET wal = 0'"
