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

// ErrTruncated marks a file that is shorter than its own header says.
var ErrTruncated = errors.New("the file is truncated")

// whole returns an error wrapping [ErrTruncated] if a file is shorter than its header says. A file that
// somebody is writing to, or has not finished writing, may be: then it is not looked at.
func checkLength(full string) error {
	if hasLog(full) {
		return nil
	}
	err := truncation(full)
	if err != nil && hasLog(full) { // somebody has begun to write
		return nil
	}
	return err
}

// truncation returns an error if a file is shorter than its header says. It opens the file through SQLite as
// one that does not change, so no lock is taken and nothing is made beside it. What cannot be asked is no
// error: others will find out what is wrong.
func truncation(full string) error {
	var header []byte
	var pageSize int64
	err := openAlone(full, func(ctx context.Context, conn *sql.Conn) error {
		// Else SQLite refuses to show a page of a database that it takes for damaged.
		if err := pragmas(ctx, conn, "writable_schema = ON"); err != nil {
			return err
		}
		return conn.QueryRowContext(ctx, "SELECT substr(data, 1, 100), length(data) FROM sqlite_dbpage WHERE pgno = 1").Scan(&header, &pageSize)
	})
	if err != nil || len(header) < 100 || !bytes.Equal(header[24:28], header[92:96]) {
		return nil // the header does not say how long the file is
	}
	want := int64(binary.BigEndian.Uint32(header[28:])) * pageSize
	info, err := os.Stat(full)
	if err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size() < want {
		return fmt.Errorf("%w: it has %d bytes, and its header says %d: copy it again, restore a backup, or rescue what is left with the sqlite3 shell's .recover", ErrTruncated, info.Size(), want)
	}
	return nil
}

// openAlone calls look with a connection to what is in a file alone, without the log beside it.
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
