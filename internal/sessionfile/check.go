package sessionfile

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// smallestFile is the size of SQLite's smallest page, in bytes. SQLite treats a smaller file as an
// empty one.
const smallestFile = 512

// tooSmall returns an error for a regular file that is smaller than any database.
func tooSmall(info os.FileInfo) error {
	if info.Mode().IsRegular() && info.Size() < smallestFile {
		return fmt.Errorf("%w: %d bytes are not a SQLite database, or the beginning of one that was truncated: choose another path, or restore a backup", ErrForeignFile, info.Size())
	}
	return nil
}

// HasLog reports whether a file has a log or a journal next to it: an app is writing to it, or
// crashed while it was.
func HasLog(full string) bool {
	for _, beside := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(full + beside); err == nil {
			return true
		}
	}
	return false
}

// Make creates an empty file if there is none. SQLite itself must not create files: after the
// file was moved away, a connection that is opened later would create another one.
func Make(full string) error {
	f, err := os.OpenFile(full, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case err == nil:
		err = f.Close()
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	if err != nil {
		return fmt.Errorf("open: %w: check that the folder exists, and that this process may write there", err)
	}
	return nil
}

// Source returns a data source name for a file. The path may have any characters.
func Source(full, mode string) string {
	full = filepath.ToSlash(full)
	if !strings.HasPrefix(full, "/") {
		full = "/" + full
	}
	return (&url.URL{Scheme: "file", Path: full, RawQuery: "mode=" + mode}).String()
}

// Pragmas runs PRAGMA statements, such as "foreign_keys = ON".
func Pragmas(ctx context.Context, conn *sql.Conn, settings ...string) error {
	for _, p := range settings {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	return nil
}

// Stat returns the file information of a regular file.
func Stat(full string) (os.FileInfo, error) {
	info, err := os.Stat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: check the path", withoutPath(err))
	case err != nil:
		return nil, fmt.Errorf("%w: allow this process to read the file and to enter its folder", withoutPath(err))
	case info.IsDir():
		return nil, fmt.Errorf("%w: it is a folder: name the file in it", ErrForeignFile)
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	return info, tooSmall(info)
}

// withoutPath returns the cause of an error about a file, whose path the caller names.
func withoutPath(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// errNotRegular is the error of a pipe or a device.
var errNotRegular = fmt.Errorf("%w: it is not a regular file: choose another path", ErrForeignFile)

// HasNewPages reports whether the log or the journal next to a file has data. SQLite creates an
// empty -wal even for reading.
func HasNewPages(full string) bool {
	for _, beside := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(full + beside); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// ErrTruncated marks a file that is shorter than the size in its header.
var ErrTruncated = errors.New("the file is truncated")

// CheckLength returns an error wrapping [ErrTruncated] if a file is shorter than the size in its
// header. It does not check a file that an app is writing to, which may be shorter for a time.
func CheckLength(full string) error {
	if HasLog(full) {
		return nil
	}
	err := Truncation(full)
	if err != nil && HasLog(full) { // an app has begun to write
		return nil
	}
	return err
}

// Truncation returns an error if a file is shorter than the size in its header. It opens the file
// through SQLite as immutable, so it takes no lock and creates no file. It returns nil if it cannot
// read the header, because the next use of the file reports the cause.
func Truncation(full string) error {
	var header []byte
	var pageSize int64
	err := openAlone(full, func(ctx context.Context, conn *sql.Conn) error {
		// Without this, SQLite does not return pages of a database that looks damaged.
		if err := Pragmas(ctx, conn, "writable_schema = ON"); err != nil {
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
	db, err := sql.Open("sqlite", Source(full, "ro")+"&immutable=1")
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
