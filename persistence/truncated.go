package persistence

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// ErrTruncated marks a file that is shorter than the size in its header.
var ErrTruncated = errors.New("the file is truncated")

// checkLength returns an error wrapping [ErrTruncated] if a file is shorter than the size in its
// header. It does not check a file that an app is writing to, which may be shorter for a time.
func checkLength(full string) error {
	if hasLog(full) {
		return nil
	}
	err := truncation(full)
	if err != nil && hasLog(full) { // an app has begun to write
		return nil
	}
	return err
}

// truncation returns an error if a file is shorter than the size in its header. It opens the file
// through SQLite as immutable, so it takes no lock and creates no file. It returns nil if it cannot
// read the header, because the next use of the file reports the cause.
func truncation(full string) error {
	var header []byte
	var pageSize int64
	err := openAlone(full, func(ctx context.Context, conn *sql.Conn) error {
		// Without this, SQLite does not return pages of a database that looks damaged.
		if err := pragmas(ctx, conn, "writable_schema = ON"); err != nil {
			return err
		}
		return conn.QueryRowContext(ctx, "SELECT substr(data, 1, 100), length(data) FROM sqlite_dbpage WHERE pgno = 1").Scan(&header, &pageSize)
	})
	if err != nil || len(header) < 100 || !bytes.Equal(header[24:28], header[92:96]) {
		return nil // the header does not have the size
	}
	want := int64(binary.BigEndian.Uint32(header[28:])) * pageSize
	info, err := os.Stat(full)
	if err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size() < want {
		return fmt.Errorf("%w: it has %d bytes, and its header says %d: copy it again, restore a backup, or rescue the rest with the sqlite3 shell's .recover", ErrTruncated, info.Size(), want)
	}
	return nil
}

// openAlone calls look with a connection to the file alone, without its log.
func openAlone(full string, look func(context.Context, *sql.Conn) error) (err error) {
	db, err := sql.Open("sqlite", sourceOf(full, "ro")+"&immutable=1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return look(ctx, conn)
}
