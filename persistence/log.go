package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrLogMissing marks a file whose newest events are in a write-ahead log that is no longer next to
// it.
var ErrLogMissing = errors.New("its write-ahead log is missing")

// The log mark detects a copy of the file alone. While an app uses a file, the newest events are in
// the log next to it (-wal), and a copy without the log looks like a file that was closed. So the
// writer keeps identity.wal = 1 in the file itself, and identity.wal = 0 in the log, which
// overrides the file:
//
//  1. The writer sets the mark to 1.
//  2. A checkpoint copies the 1 from the log into the file.
//  3. The writer sets the mark to 0, which is in the log only.
//
// A reader of both files, or SQLite's backup, sees 0. When the last connection closes, SQLite
// copies the 0 into the file. A reader of a file with 1 and no log knows that the log is missing.
const (
	setLogMark   = `UPDATE identity SET wal = 1`
	unsetLogMark = `UPDATE identity SET wal = 0`
	selectMark   = `SELECT wal FROM identity`

	// markEvery is the number of writes after which the writer renews the mark. SQLite runs a
	// checkpoint by itself when the log has autoCheckpoint pages. That copies the 0 into the file,
	// and the mark is lost until it is renewed. So autoCheckpoint is larger than the log usually is
	// after markEvery writes.
	markEvery      = 300
	autoCheckpoint = 4000
)

// markLog sets the mark. It ignores failures: without the mark, a missing log is not noticed.
func (w *writer) markLog() {
	ctx := context.Background()
	w.unmarked = 0
	if _, err := w.Conn.ExecContext(ctx, setLogMark); err == nil {
		_ = pragmas(ctx, w.Conn, "wal_checkpoint(PASSIVE)")
	}
	_ = w.unmarkLog()
}

// unmarkLog clears the mark, so that a closed file has none. It takes no lock if there is no mark.
func (w *writer) unmarkLog() error {
	ctx, marked := context.Background(), false
	if err := w.Conn.QueryRowContext(ctx, selectMark).Scan(&marked); err != nil || !marked {
		return err
	}
	_, err := w.Conn.ExecContext(ctx, unsetLogMark)
	return err
}

// countWrites renews the mark after enough writes. It runs after the callers of the writes have
// their answers.
func (w *writer) countWrites(n int) {
	if w.unmarked += n; w.keepsLog && w.unmarked >= markEvery {
		w.markLog()
	}
}

// logMissing returns an error wrapping [ErrLogMissing] if a file has the mark and no log.
func logMissing(full string) error {
	if hasLog(full) {
		return nil
	}
	marked := false
	err := openAlone(full, func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, selectMark).Scan(&marked)
	})
	// A file that cannot be read here, such as one of the first schema, has no mark. If there is a
	// log now, an app has begun to write.
	if err != nil || !marked || hasLog(full) {
		return nil
	}
	return fmt.Errorf("%w: %s-wal does not exist, and the newest events are probably only in it: the file was copied while an app used it; put that file back", ErrLogMissing, full)
}

// ignoreLogRemedy is how to use a file without its log.
const ignoreLogRemedy = "; to continue without those events, run: sqlite3 FILE 'UPDATE identity SET wal = 0'"
