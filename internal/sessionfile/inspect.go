package sessionfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Found reports whether there is a file at a path, and not an empty one. It returns an error for one that cannot be a
// database.
func Found(full string) (bool, error) {
	info, err := os.Stat(full)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: allow this process to read and write the file and its folder", err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() { // opening a pipe for writing waits for its reader
		return true, errNotRegular
	}
	return true, tooSmall(info)
}

// Inspect refuses a file that is not a session file, before anything is written to it. It reads the
// file through SQLite and not with os.Open: closing a file that SQLite also has open in this
// process would release SQLite's locks.
func Inspect(full string, busy time.Duration) (err error) {
	if err := CheckLength(full); err != nil {
		return err
	}
	if err := LogMissing(full); err != nil {
		return fmt.Errorf("%w%s", err, ignoreLogRemedy)
	}
	// A read-only connection does not copy a crashed app's log into the file. Without a log, a
	// connection for writing is better, because it removes the files that reading a database
	// creates.
	mode := "rw"
	if HasLog(full) {
		mode = "ro"
	}
	db, err := sql.Open("sqlite", Source(full, mode))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := Pragmas(ctx, conn, fmt.Sprintf("busy_timeout = %d", busy.Milliseconds())); err != nil {
		return err
	}
	_, err = CheckOwner(ctx, conn)
	return err
}

// ignoreLogRemedy is how to use a file without its log.
const ignoreLogRemedy = "; to continue without those events, run: sqlite3 FILE 'UPDATE identity SET wal = 0'"
