package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

var (
	// ErrReadOnly marks a write through a service that was opened with [WithReadOnly].
	ErrReadOnly = errors.New("opened for reading only")
	// ErrOlderSchema marks a file of an older version, which [WithReadOnly] cannot bring up to
	// date.
	ErrOlderSchema = sessionfile.ErrOlderSchema
	// ErrWritten marks a reading during which another process wrote to the file; see
	// [WithReadOnly].
	ErrWritten = errors.New("the file was written to while it was read")
)

// WithReadOnly opens a file for reading only. Create, AppendEvent and Delete return errors wrapping
// [ErrReadOnly]. The file must exist, and its schema must be of version 2 or newer. Other processes may
// continue to write. Every reading sees one state of the file.
//
// While an app uses the file, or after it crashed, the newest events are in a file next to it that
// ends in -wal. Then SQLite also needs a file that ends in -shm, and if there is none, the folder
// must be writable.
//
// Without a -wal no app is writing, and the file is opened as immutable: SQLite takes no lock and
// creates no file, so the folder may be read-only. If an app begins to write nevertheless, or if
// the file is moved, a reading ends with an error wrapping [ErrWritten]. Then open the file again.
func WithReadOnly() Option {
	return func(o *options) error {
		o.readOnly = true
		return nil
	}
}

// readOnly is the state of a file that was opened for reading only. It is nil for a service that
// writes.
type readOnly struct {
	full   string
	before os.FileInfo // as it was when it was opened
	// immutable is true if no app was writing at that time. SQLite then takes no locks.
	immutable bool
	// incomplete is why the newest events may be missing, nil if they are not.
	incomplete error
}

// openReadOnly opens an existing session file.
func (s *SQLiteSessionService) openReadOnly(path string) error {
	if path == memory {
		return fmt.Errorf("persistence: path %q and WithReadOnly: a database in memory would be empty; name a file", path)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("persistence: %s: %w", path, err)
	}
	info, err := sessionfile.Stat(full)
	if err != nil {
		return fmt.Errorf("persistence: %s: %w", full, err)
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real // SQLite creates its files next to the target of a link
	}
	source := sessionfile.Source(full, "ro")
	s.full = full
	s.readOnly = &readOnly{full: full, before: info}
	if err := sessionfile.CheckLength(full); err != nil {
		return s.explain("open", err)
	}
	s.readOnly.incomplete = sessionfile.LogMissing(full)
	if !sessionfile.HasLog(full) {
		s.readOnly.immutable = true
		source += "&immutable=1"
	}
	s.db, err = sql.Open("sqlite", source)
	return s.explain("open", err)
}

// startReading reads the file once, so that an unusable file fails here and not at the first
// reading.
func (s *SQLiteSessionService) startReading(ctx context.Context, _ options) error {
	conn, err := readingConn(ctx, s.db, s.busy)
	if err != nil {
		return s.explain("open", err)
	}
	if err = errors.Join(sessionfile.CheckCurrent(ctx, conn), conn.Close()); err != nil {
		return s.explain("open", err)
	}
	s.pool = make(chan *reader, readers)
	for range readers {
		s.pool <- nil
	}
	return nil
}

// check returns an error if the file was moved or replaced, or if an app began to write to a file
// that was opened as immutable.
func (r *readOnly) check() error {
	if r == nil {
		return nil
	}
	now, err := os.Stat(r.full)
	switch {
	case err != nil:
		return fmt.Errorf("%w, or taken away: %w: open it again", ErrWritten, err)
	case !os.SameFile(now, r.before):
		return fmt.Errorf("%w: another file is in its place: open it again", ErrWritten)
	case !r.immutable:
		return nil
	case now.Size() != r.before.Size() || !now.ModTime().Equal(r.before.ModTime()):
		return fmt.Errorf("%w: open it again (it was %d bytes of %s)", ErrWritten, r.before.Size(), r.before.ModTime().Format(time.RFC3339Nano))
	case sessionfile.HasNewPages(r.full):
		return fmt.Errorf("%w: the new events are in a file next to it: open it again", ErrWritten)
	}
	return nil
}

// readOnlyRemedies are the remedies that differ for a file that was opened for reading only.
var readOnlyRemedies = map[int]string{
	1:  "a table, a column or an index is missing or was changed by hand: compare the schema of the file with that of a new one, or restore a backup",
	5:  "another process has locked the file: end it, or try again later",
	8:  "an app left the newest events in a -wal file, and this folder is not writable: copy both files to a writable folder, and open the copy",
	14: "allow this process to read the file; if there is a -wal file next to it, copy both files to a writable folder, and open the copy",
}

// Incomplete returns an error wrapping [ErrLogMissing] if the newest events are probably missing,
// because the file had no -wal when it was opened for reading, although an app was using it when it
// was copied. A service that writes refuses to open such a file, so for it Incomplete returns nil.
func (s *SQLiteSessionService) Incomplete() error {
	if s.readOnly == nil {
		return nil
	}
	return s.readOnly.incomplete
}
