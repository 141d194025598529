package sessionfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Errors of a file that is not to be opened, for errors.Is. Package persistence has them under the same names.
var (
	ErrForeignFile = errors.New("not a session file")
	ErrNewerSchema = errors.New("written by a newer version")
	ErrOlderSchema = errors.New("written by an older version")
)

// applicationID marks a file of this package, in SQLite's own header field: "LSES".
const applicationID = 0x4c534553

// Migrate brings the schema to the newest version, each step in one transaction. It reads the
// version under the write lock, so only one of two processes runs each step. It writes even if
// there is no step to run, so that a file which cannot be written fails here and not in the first
// turn.
func Migrate(ctx context.Context, conn *sql.Conn, deadline time.Time) error {
	return retry(deadline, func() error { return migrate(ctx, conn) })
}

func migrate(ctx context.Context, conn *sql.Conn) error {
	steps, err := Migrations()
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
		if done || err != nil {
			end = "ROLLBACK"
		}
		_, endErr := conn.ExecContext(ctx, end)
		err = errors.Join(err, endErr)
	}()
	version, err := CheckOwner(ctx, conn)
	if err != nil {
		return false, err
	}
	if version == len(steps) {
		// Writing shows whether this process may write the file. Nothing is left of it, so that a file whose pages turn out
		// to be damaged is refused as it was.
		return true, Pragmas(ctx, conn, fmt.Sprintf("user_version = %d", version))
	}
	if _, err := conn.ExecContext(ctx, steps[version]); err != nil {
		return false, fmt.Errorf("migration %d: %w", version+1, err)
	}
	return false, Pragmas(ctx, conn, fmt.Sprintf("application_id = %d", applicationID), fmt.Sprintf("user_version = %d", version+1))
}

// CheckOwner returns the version of the schema, 0 for an empty database. It returns an error for a
// database that does not belong to this package, or to a newer version of it.
func CheckOwner(ctx context.Context, conn *sql.Conn) (version int, err error) {
	var id, objects int
	err = conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	if err != nil {
		return 0, err
	}
	return version, checkHeader(uint32(id), version, objects)
}

// checkHeader is CheckOwner for the values of the header.
func checkHeader(id uint32, version, objects int) error {
	steps, err := Migrations()
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

// CheckCurrent returns an error for a file that is not a session file of this version.
func CheckCurrent(ctx context.Context, conn *sql.Conn) error {
	version, err := CheckOwner(ctx, conn)
	if err != nil {
		return err
	}
	steps, err := Migrations()
	if err != nil {
		return err
	}
	return checkVersion(version, oldestReadable, len(steps))
}

// oldestReadable is the oldest version of the schema that can be read as it is. Later versions only
// added tables, such as those of tool results, and columns of a view. An older file has neither.
const oldestReadable = 2

// checkVersion returns an error for an empty schema, and for one that is older than oldest. newest is only
// named in the error.
func checkVersion(version, oldest, newest int) error {
	switch {
	case version == 0:
		return fmt.Errorf("%w: the database is empty: choose another path", ErrForeignFile)
	case version < oldest:
		return fmt.Errorf("%w: user_version is %d, this program reads %d to %d: let an app of this version open the file once, or a copy of it", ErrOlderSchema, version, oldest, newest)
	}
	return nil
}
