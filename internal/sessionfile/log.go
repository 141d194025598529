package sessionfile

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
	SetLogMark   = `UPDATE identity SET wal = 1`
	UnsetLogMark = `UPDATE identity SET wal = 0`
	SelectMark   = `SELECT wal FROM identity`

	// MarkEvery is the number of writes after which the writer renews the mark. SQLite runs a
	// checkpoint by itself when the log has AutoCheckpoint pages. That copies the 0 into the file,
	// and the mark is lost until it is renewed. So AutoCheckpoint is larger than the log usually is
	// after MarkEvery writes.
	MarkEvery      = 300
	AutoCheckpoint = 4000
)

// LogMissing returns an error wrapping [ErrLogMissing] if a file has the mark and no log.
func LogMissing(full string) error {
	if HasLog(full) {
		return nil
	}
	marked := false
	err := openAlone(full, func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, SelectMark).Scan(&marked)
	})
	// A file that cannot be read here, such as one of the first schema, has no mark. If there is a
	// log now, an app has begun to write.
	if err != nil || !marked || HasLog(full) {
		return nil
	}
	return fmt.Errorf("%w: %s-wal does not exist, and the newest events are probably only in it: the file was copied while an app used it; put that file back", ErrLogMissing, full)
}
