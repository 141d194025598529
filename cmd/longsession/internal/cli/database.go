package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// sqliteMagic is how a file of SQLite begins.
var sqliteMagic = []byte("SQLite format 3\x00")

// isDatabase reports whether a file of SQLite is there.
func isDatabase(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, sqliteMagic)
}

// sparesDatabases refuses a file to write to that is, or would be, a file that SQLite keeps beside a
// database that is there.
func sparesDatabases(flag, name string) error {
	place := resolved(name)
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if base, found := strings.CutSuffix(place, suffix); found && isDatabase(base) {
			return badInput("%s %s belongs to the database %s: name another file", flag, name, base)
		}
	}
	return nil
}

// replaceable refuses to replace what somebody wants to keep: what is no regular file, one that is read-only,
// and whatever belongs to a database. The file need not be there.
func replaceable(flag, name string) error {
	if _, err := destination(flag, name); err != nil {
		return err
	}
	if err := sparesDatabases(flag, name); err != nil {
		return err
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return badInput("%s %s: cannot write there: %w; name another file", flag, name, cause(err))
	case info.Mode().Perm()&0o222 == 0:
		return badInput("%s %s is read-only: make it writable, or name another file", flag, name)
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return badInput("%s %s: cannot write there: %w; make it writable, or name another file", flag, name, cause(err))
	}
	if err := f.Close(); err != nil {
		return failed("%s %s: %w", flag, name, cause(err))
	}
	if isDatabase(name) {
		return badInput("%s %s is a SQLite database: name another file", flag, name)
	}
	return nil
}
