package sessionfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// isBusy reports whether the lock of another connection is the cause.
func isBusy(err error) bool {
	var c interface {
		error
		Code() int // SQLite's result code
	}
	return errors.As(err, &c) && (c.Code()&0xff == 5 || c.Code()&0xff == 6)
}

// UseWAL turns on the write-ahead log, with which readers do not block the writer. It waits for locks until the deadline.
func UseWAL(ctx context.Context, conn *sql.Conn, deadline time.Time) error {
	return retry(deadline, func() error { return useWAL(ctx, conn) })
}

func useWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %q and cannot be WAL: this file system or connection does not support it", mode)
	}
	return nil
}

// retry calls try until it succeeds, or until the deadline if the file is locked. SQLite itself
// does not wait for every lock that it needs to switch to WAL, so two processes that open a new
// file at once need this.
func retry(deadline time.Time, try func() error) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := try()
		if !isBusy(err) || time.Now().Add(pause).After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}
