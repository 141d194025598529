package persistence

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/session"
)

// Errors that a caller may want to tell apart. A missing session is [session.ErrNotFound].
var (
	ErrClosed        = errors.New("session service is closed")
	ErrSessionExists = errors.New("session already exists")
	ErrEventExists   = errors.New("session already has an event of this ID")
	// ErrForeignFile marks a file that is not, or not only, a session file of this package.
	ErrForeignFile = errors.New("not a session file")
	// ErrNewerSchema marks a file that a newer version of this package has written.
	ErrNewerSchema = errors.New("written by a newer version")
)

// coded is an error of a SQLite driver that tells SQLite's result code.
type coded interface {
	error
	Code() int
}

// remedies says what to do, by SQLite's primary result code.
var remedies = map[int]string{
	3:  "allow this process to read and write the file and its folder",
	5:  "another process or connection holds the lock: try again, end the other one, or raise WithBusyTimeout",
	6:  "another connection holds the lock: try again, or raise WithBusyTimeout",
	8:  "make the file and its folder writable for this process",
	10: "check the disk and the file system (a network file system does not work)",
	11: "the file is damaged: restore a backup, or rescue what is left with the sqlite3 shell's .recover",
	13: "make room on the disk, then try again; what is stored is intact",
	14: "check that the folder exists, that this process may write there, and that the path is no folder",
	26: "this is no SQLite database, or its header is damaged: choose another path, or restore a backup",
}

// explain wraps an error of an operation with the file, and with what to do if SQLite said what is
// wrong. Errors that explain themselves pass through.
func (s *SQLiteSessionService) explain(doing string, err error) error {
	var c coded
	if s.full != "" && errors.As(err, &c) && mayBeTruncated(c.Code()) {
		if cut := truncation(s.full); cut != nil {
			return fmt.Errorf("persistence: %s: %s: %w (%w)", s.name, doing, cut, err)
		}
	}
	if s.readOnly != nil && errors.As(err, &c) && c.Code() != cutOff && readOnlyRemedies[c.Code()&0xff] != "" {
		return fmt.Errorf("persistence: %s: %s: %w: %s", s.name, doing, err, readOnlyRemedies[c.Code()&0xff])
	}
	return explain(s.name, doing, err)
}

func explain(name, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("persistence: %s: %s: %w", name, doing, err)
	case errors.Is(err, session.ErrNotFound), errors.Is(err, ErrSessionExists), errors.Is(err, ErrEventExists):
		return err
	}
	if remedy := remedyFor(err); remedy != "" {
		return fmt.Errorf("persistence: %s: %s: %w: %s", name, doing, err, remedy)
	}
	return fmt.Errorf("persistence: %s: %s: %w", name, doing, err)
}

func remedyFor(err error) string {
	var c coded
	if !errors.As(err, &c) {
		return ""
	}
	if c.Code() == cutOff {
		return "a write to the file was cut off; let `sqlite3 FILE 'PRAGMA schema_version'` take it back"
	}
	return remedies[c.Code()&0xff]
}

// cutOff is SQLITE_READONLY_ROLLBACK: a journal must be rolled back, and a connection for reading cannot.
const cutOff = 776

// mayBeTruncated reports whether SQLite's code may come of a file that is too short: an error of reading, a
// damaged database, or no database at all.
func mayBeTruncated(code int) bool {
	return code&0xff == 10 || code&0xff == 11 || code&0xff == 26
}

// isBusy reports whether another connection's lock was in the way.
func isBusy(err error) bool {
	var c coded
	return errors.As(err, &c) && (c.Code()&0xff == 5 || c.Code()&0xff == 6)
}
