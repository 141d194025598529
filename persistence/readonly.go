package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

var (
	// ErrReadOnly marks a write through a service that was opened with [WithReadOnly].
	ErrReadOnly = errors.New("opened for reading only")
	// ErrOlderSchema marks a file that must be brought up to date before it can be opened with [WithReadOnly].
	ErrOlderSchema = errors.New("written by an older version")
	// ErrWritten marks a reading in the midst of which somebody began to write; see [WithReadOnly].
	ErrWritten = errors.New("the file was written to while it was read")
)

// WithReadOnly opens a file so that nothing can be written: Create, AppendEvent and Delete return errors
// wrapping [ErrReadOnly], no schema is brought up to date, and the file must exist. Other processes may go
// on writing; every reading sees one state of the file.
//
// While an app uses the file, or after one crashed, its newest events stand in a file beside it, ending in
// -wal. SQLite then shares a third one, ending in -shm; if that is not there, the folder must be writable.
// Without a -wal nobody is writing, and the file is opened as immutable: no lock is taken, no file is made
// beside it, and the folder may be read-only. Should an app begin to write all the same, or the file be
// taken away, a reading ends with an error wrapping [ErrWritten]: open the file again.
func WithReadOnly() Option {
	return func(o *options) error {
		o.readOnly = true
		return nil
	}
}

// readOnly is how a file stands that nothing is written to. A nil one is that of a service that writes.
type readOnly struct {
	full   string
	before os.FileInfo // as it was when it was opened
	// immutable says that nobody was writing then, so that no locks are taken.
	immutable bool
	// incomplete says why the newest events may not be in the file; nil if nothing hints at that.
	incomplete error
}

// openReadOnly opens a file, which must be one of ours.
func (s *SQLiteSessionService) openReadOnly(path string) error {
	if path == memory {
		return fmt.Errorf("persistence: path %q and WithReadOnly: a database in memory would be empty; name a file", path)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("persistence: %s: %w", path, err)
	}
	info, err := statFile(full)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real // SQLite puts its files beside the target of a link
	}
	source := sourceOf(full, "ro")
	s.full = full
	s.readOnly = &readOnly{full: full, before: info}
	if err := checkLength(full); err != nil {
		return s.explain("open", err)
	}
	s.readOnly.incomplete = logMissing(full)
	if !hasLog(full) {
		s.readOnly.immutable = true
		source += "&immutable=1"
	}
	s.db, err = sql.Open("sqlite", source)
	return s.explain("open", err)
}

// present returns what the file system says of a file that is to be read.
func statFile(full string) (os.FileInfo, error) {
	info, err := os.Stat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("persistence: %s: %w: check the path", full, err)
	case err != nil:
		return nil, fmt.Errorf("persistence: %s: %w: allow this process to read the file and to enter its folder", full, err)
	case info.IsDir():
		return nil, fmt.Errorf("persistence: %s: %w: it is a folder: name the file in it", full, ErrForeignFile)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("persistence: %s: %w: it is no regular file: choose another path", full, ErrForeignFile)
	}
	return info, tooSmall(full, info)
}

// startReading looks at the file once, so that what is wrong with it is found here and not by the first
// reading.
func (s *SQLiteSessionService) startReading(ctx context.Context, _ options) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.explain("open", err)
	}
	err = pragmas(ctx, conn, fmt.Sprintf("busy_timeout = %d", s.busy.Milliseconds()), "query_only = ON")
	if err == nil {
		err = checkCurrent(ctx, conn)
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return s.explain("open", err)
	}
	s.pool = make(chan *reader, readers)
	for range readers {
		s.pool <- nil
	}
	return nil
}

// checkCurrent returns an error for a file that is not ours or not of this version.
func checkCurrent(ctx context.Context, conn *sql.Conn) error {
	version, err := checkOwner(ctx, conn)
	if err != nil {
		return err
	}
	steps, err := scripts()
	if err != nil {
		return err
	}
	return checkVersion(version, len(steps))
}

func checkVersion(version, newest int) error {
	switch {
	case version == 0:
		return fmt.Errorf("%w: the database is empty: choose another path", ErrForeignFile)
	case version < newest:
		return fmt.Errorf("%w: user_version is %d, this program reads %d: let an app of this version open the file once, or a copy of it", ErrOlderSchema, version, newest)
	}
	return nil
}

// still returns an error if the file is not there any more, or if nobody wrote to it when it was opened and
// somebody has begun to since.
func (r *readOnly) check() error {
	if r == nil {
		return nil
	}
	now, err := os.Stat(r.full)
	switch {
	case err != nil:
		return fmt.Errorf("%w, or taken away: %w: open it again", ErrWritten, err)
	case !os.SameFile(now, r.before):
		return fmt.Errorf("%w: another file stands in its place: open it again", ErrWritten)
	case !r.immutable:
		return nil
	case now.Size() != r.before.Size() || !now.ModTime().Equal(r.before.ModTime()):
		return fmt.Errorf("%w: open it again (it was %d bytes of %s)", ErrWritten, r.before.Size(), r.before.ModTime().Format(time.RFC3339Nano))
	case hasNewPages(r.full):
		return fmt.Errorf("%w: what is new stands beside it: open it again", ErrWritten)
	}
	return nil
}

// hasNewPages reports whether anything has been written beside a file that is not in it yet. SQLite makes an empty
// -wal also for somebody who only looks.
func hasNewPages(full string) bool {
	for _, beside := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(full + beside); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// readOnlyRemedies says what to do where a file that is only read needs something else than one that is
// written.
var readOnlyRemedies = map[int]string{
	1:  "a table, a column or an index is missing or was changed by hand: compare the schema of the file with that of a new one, or restore a backup",
	5:  "another process holds the file for itself: end that one, or try again later",
	8:  "an app left the newest events in a -wal file, and this folder cannot be written: copy both files to one that can, and open the copy",
	14: "allow this process to read the file; if a -wal file stands beside it, copy both files to a folder that can be written, and open the copy",
}

// Incomplete returns an error wrapping [ErrLogMissing] if the newest events are likely to be missing in a file
// that is open for reading only, because its -wal was not there when it was opened. A service that writes
// refuses to open such a file, and returns nil.
func (s *SQLiteSessionService) Incomplete() error {
	if s.readOnly == nil {
		return nil
	}
	return s.readOnly.incomplete
}
