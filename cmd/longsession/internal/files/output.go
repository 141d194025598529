// Package files keeps the command from destroying anything it writes next to or over: it decides
// which files may be replaced, and replaces a file as a whole or not at all.
package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// Output is a file that a flag names for writing.
type Output struct{ Flag, Name string }

// Check refuses to replace anything a user would miss: a file that is not regular, a read-only
// file, and any file that belongs to a database. The file need not exist.
func (o Output) Check() error {
	if _, err := o.target(); err != nil {
		return err
	}
	if err := o.CheckSidecar(); err != nil {
		return err
	}
	info, err := os.Stat(o.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return o.unwritable(err, "name another file")
	case info.Mode().Perm()&0o222 == 0:
		return exit.Usage("%s %s is read-only: make it writable, or name another file", o.Flag, o.Name)
	}
	f, err := os.OpenFile(o.Name, os.O_WRONLY, 0)
	if err != nil {
		return o.unwritable(err, "make it writable, or name another file")
	}
	if err := f.Close(); err != nil {
		return exit.Failed("%s %s: %w", o.Flag, o.Name, Cause(err))
	}
	if IsDatabase(o.Name) {
		return exit.Usage("%s %s is a SQLite database: name another file", o.Flag, o.Name)
	}
	return nil
}

// CheckApart refuses an output that is the session file at path, or one of the files that SQLite
// keeps next to that session file.
func (o Output) CheckApart(path string) error {
	switch {
	case Same(o.Name, path):
		return exit.Usage("%s %s is the session file itself: name another one", o.Flag, o.Name)
	case SameAsAny(o.Name, OfDatabase(path)):
		return exit.Usage("%s %s belongs to the session file, which may keep its newest events there: name another one", o.Flag, o.Name)
	}
	return nil
}

// Mode says who may read an output.
type Mode fs.FileMode

const (
	// Private is for the owner alone.
	Private Mode = 0o600
	// Shared is for everybody to read, or, where a file is replaced, for whom it was before.
	Shared Mode = 0o644
)

// Create creates a temporary file, which [Pending.Commit] moves to the place of the output. If the
// output is a link, the link stays and the file that it leads to is replaced.
func (o Output) Create(mode Mode) (*Pending, error) {
	target, err := o.target()
	if err != nil {
		return nil, err
	}
	file, err := newTemporary(target, mode)
	if err != nil {
		return nil, o.unwritable(err, "name a file in a folder that exists and is writable")
	}
	return &Pending{o, file}, nil
}

// Replace creates the output with what write writes, readable by its owner alone.
func (o Output) Replace(write func(io.Writer) error) (err error) {
	pending, err := o.Create(Private)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pending.Cleanup()) }()
	if err := write(pending); err != nil {
		return err
	}
	return pending.Commit()
}

// target returns the path of the file that is replaced. Only a regular file may be replaced: a
// device or a pipe would be gone for everybody.
func (o Output) target() (string, error) {
	switch info, err := os.Stat(o.Name); {
	case err == nil && info.IsDir():
		return "", exit.Usage("%s %s is a folder: name a file in it", o.Flag, o.Name)
	case err == nil && !info.Mode().IsRegular():
		return "", exit.Usage("%s %s is not a regular file: name a file to write to", o.Flag, o.Name)
	case err == nil:
		target, err := filepath.EvalSymlinks(o.Name)
		if err != nil {
			return "", o.unwritable(err, "name a file to write to")
		}
		return target, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", o.unwritable(err, "name a file to write to")
	}
	if _, err := os.Lstat(o.Name); err == nil {
		return "", exit.Usage("%s %s is a link that leads nowhere: name a file to write to", o.Flag, o.Name)
	}
	return o.Name, nil
}

func (o Output) unwritable(err error, remedy string) error {
	return exit.Usage("%s %s: cannot write there: %w; %s", o.Flag, o.Name, Cause(err), remedy)
}

// Pending is an output that is being written. Readers see the old file or the whole new one.
type Pending struct {
	Output
	file temporary
}

// temporary is a file that moves to its place when it is complete.
type temporary interface {
	io.Writer
	CloseAtomicallyReplace() error
	// Cleanup removes the file, unless it was moved.
	Cleanup() error
}

// Write writes to the temporary file.
func (p *Pending) Write(data []byte) (int, error) {
	n, err := p.file.Write(data)
	return n, p.unwritten(err)
}

// Commit checks the output again, since another process may have created it meanwhile, and replaces
// it.
func (p *Pending) Commit() error {
	if err := p.Check(); err != nil {
		return err
	}
	return p.unwritten(p.file.CloseAtomicallyReplace())
}

// Cleanup removes the temporary file, unless Commit has moved it.
func (p *Pending) Cleanup() error { return p.file.Cleanup() }

func (p *Pending) unwritten(err error) error {
	if err == nil {
		return nil
	}
	return exit.Failed("%s %s: %w: nothing was written", p.Flag, p.Name, Cause(err))
}

// Cause strips the path from an error: the path of a temporary file would tell the user nothing.
func Cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
