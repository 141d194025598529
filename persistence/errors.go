package persistence

import (
	"context"
	"errors"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// Errors for errors.Is. A missing session is [compaction.ErrNotFound].
var (
	ErrClosed        = errors.New("session service is closed")
	ErrSessionExists = errors.New("session already exists")
	ErrEventExists   = errors.New("session already has an event of this ID")
	// ErrForeignFile marks a file that is not a session file of this package, or not only that.
	ErrForeignFile = sessionfile.ErrForeignFile
	// ErrNewerSchema marks a file of a newer version of this package.
	ErrNewerSchema = sessionfile.ErrNewerSchema
	// ErrTruncated marks a file that is shorter than the size in its header.
	ErrTruncated = sessionfile.ErrTruncated
	// ErrLogMissing marks a file whose newest events are in a write-ahead log that is no longer next to
	// it.
	ErrLogMissing = sessionfile.ErrLogMissing
	// ErrMoved marks a call on a file that was moved, deleted or replaced after the service opened it.
	ErrMoved = sessionfile.ErrMoved
)

// coded is an error of a SQLite driver that has SQLite's result code.
type coded interface {
	error
	Code() int
}

// ended returns the error of a read. The driver interrupts a statement whose context has ended, and may return that
// statement's error, SQLITE_INTERRUPT, in place of the context's.
func ended(ctx context.Context, err error) error {
	var c coded
	if ctx.Err() != nil && errors.As(err, &c) && c.Code()&0xff == 9 {
		return ctx.Err()
	}
	return err
}

// remedies are pieces of advice by SQLite's primary result code.
var remedies = map[int]string{
	3:  "allow this process to read and write the file and its folder",
	5:  "another process or connection holds the lock: try again, end the other one, or raise WithBusyTimeout",
	6:  "another connection holds the lock: try again, or raise WithBusyTimeout",
	8:  "make the file and its folder writable for this process",
	10: "check the disk and the file system (a network file system does not work)",
	11: "the file is damaged: restore a backup, or rescue the rest with the sqlite3 shell's .recover",
	13: "free space on the disk, then try again; stored data is intact",
	14: "check that the folder exists, that this process may write there, and that the path is not a folder",
	26: "this is not a SQLite database, or its header is damaged: choose another path, or restore a backup",
}

// explain adds the file and the operation to an error, and a remedy if the error has a SQLite
// result code. Errors that need no explanation are returned unchanged.
func (s *SQLiteSessionService) explain(doing string, err error) error {
	var c coded
	if s.full != "" && errors.As(err, &c) && mayBeTruncated(c.Code()) {
		if cut := sessionfile.Truncation(s.full); cut != nil {
			return fmt.Errorf("persistence: %s: %s: %w (%w)", s.name, doing, cut, err)
		}
	}
	if s.readOnly != nil && errors.As(err, &c) && c.Code() != cutOff && readOnlyRemedies[c.Code()&0xff] != "" {
		return fmt.Errorf("persistence: %s: %s: %w: %s", s.name, doing, err, readOnlyRemedies[c.Code()&0xff])
	}
	return explain(s.name, doing, err)
}

// explain is the part of the method that needs no service.
func explain(name, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("persistence: %s: %s: %w", name, doing, err)
	case adk.IsNotFound(err), errors.Is(err, ErrSessionExists), errors.Is(err, ErrEventExists),
		errors.Is(err, store.ErrUnknownRef):
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
		return "a write to the file was interrupted; run `sqlite3 FILE 'PRAGMA schema_version'` to undo it"
	}
	return remedies[c.Code()&0xff]
}

// cutOff is SQLITE_READONLY_ROLLBACK: a journal must be rolled back, which a read-only connection
// cannot do.
const cutOff = 776

// mayBeTruncated reports whether a truncated file can be the cause of a SQLite result code: a read
// error, a damaged database, or no database at all.
func mayBeTruncated(code int) bool {
	return code&0xff == 10 || code&0xff == 11 || code&0xff == 26
}
