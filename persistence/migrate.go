package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// applicationID marks a file of this package, in SQLite's own header field: "LSES".
const applicationID = 0x4c534553

// migrate brings the schema to the newest version, each step in one transaction. It reads the
// version under the write lock, so only one of two processes runs each step. It writes even if
// there is no step to run, so that a file which cannot be written fails here and not in the first
// turn.
func migrate(ctx context.Context, conn *sql.Conn) error {
	steps, err := sessionfile.Migrations()
	if err != nil {
		return err
	}
	for {
		done, err := step(ctx, conn, steps)
		if done || err != nil {
			return err
		}
	}
}

// step runs the next migration, and reports whether there was none left.
func step(ctx context.Context, conn *sql.Conn, steps []string) (done bool, err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return false, err
	}
	defer func() {
		end := "COMMIT"
		if err != nil {
			end = "ROLLBACK"
		}
		_, endErr := conn.ExecContext(ctx, end)
		err = errors.Join(err, endErr)
	}()
	version, err := checkOwner(ctx, conn)
	if err != nil {
		return false, err
	}
	if version == len(steps) {
		return true, pragmas(ctx, conn, fmt.Sprintf("user_version = %d", version))
	}
	if _, err := conn.ExecContext(ctx, steps[version]); err != nil {
		return false, fmt.Errorf("migration %d: %w", version+1, err)
	}
	return false, pragmas(ctx, conn, fmt.Sprintf("application_id = %d", applicationID), fmt.Sprintf("user_version = %d", version+1))
}

// checkOwner returns the version of the schema, 0 for an empty database. It returns an error for a
// database that does not belong to this package, or to a newer version of it.
func checkOwner(ctx context.Context, conn *sql.Conn) (version int, err error) {
	var id, objects int
	err = conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	if err != nil {
		return 0, err
	}
	return version, checkHeader(uint32(id), version, objects)
}

// checkHeader is checkOwner for the values of the header.
func checkHeader(id uint32, version, objects int) error {
	steps, err := sessionfile.Migrations()
	if err != nil {
		return err
	}
	switch {
	case id == 0 && version == 0 && objects == 0:
		return nil
	case id != applicationID:
		return fmt.Errorf("%w: application_id is %#x, not %#x: choose another path; this file belongs to another program", ErrForeignFile, id, applicationID)
	case version < 1:
		return fmt.Errorf("%w: user_version is %d: choose another path, or restore a backup", ErrForeignFile, version)
	case version > len(steps):
		return fmt.Errorf("%w: user_version is %d, this program knows up to %d: use the newer version of the program", ErrNewerSchema, version, len(steps))
	}
	return nil
}

// smallestFile is the size of SQLite's smallest page, in bytes. SQLite treats a smaller file as an
// empty one.
const smallestFile = 512

// tooSmall returns an error for a regular file that is smaller than any database.
func tooSmall(full string, info os.FileInfo) error {
	if info.Mode().IsRegular() && info.Size() < smallestFile {
		return fmt.Errorf("persistence: %s: %w: %d bytes are not a SQLite database, or the beginning of one that was truncated: choose another path, or restore a backup", full, ErrForeignFile, info.Size())
	}
	return nil
}

// hasLog reports whether a file has a log or a journal next to it: an app is writing to it, or
// crashed while it was.
func hasLog(full string) bool {
	for _, beside := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(full + beside); err == nil {
			return true
		}
	}
	return false
}

// inspect refuses a file that is not a session file, before anything is written to it. It reads the
// file through SQLite and not with os.Open: closing a file that SQLite also has open in this
// process would release SQLite's locks.
func inspect(full string, busy time.Duration) (err error) {
	info, err := os.Stat(full)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil // a new file
	}
	if err != nil {
		return fmt.Errorf("persistence: %s: %w: allow this process to read and write the file and its folder", full, err)
	}
	if err := tooSmall(full, info); err != nil {
		return err
	}
	if err := checkLength(full); err != nil {
		return explain(full, "open", err)
	}
	if err := logMissing(full); err != nil {
		return explain(full, "open", fmt.Errorf("%w%s", err, ignoreLogRemedy))
	}
	// A read-only connection does not copy a crashed app's log into the file. Without a log, a
	// connection for writing is better, because it removes the files that reading a database
	// creates.
	mode := "rw"
	if hasLog(full) {
		mode = "ro"
	}
	db, err := sql.Open("sqlite", sourceOf(full, mode))
	if err != nil {
		return explain(full, "open", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return explain(full, "open", err)
	}
	defer conn.Close()
	if err := pragmas(ctx, conn, fmt.Sprintf("busy_timeout = %d", busy.Milliseconds())); err != nil {
		return explain(full, "open", err)
	}
	_, err = checkOwner(ctx, conn)
	return explain(full, "open", err)
}
