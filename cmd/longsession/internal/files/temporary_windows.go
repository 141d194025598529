package files

import (
	"errors"
	"os"
	"path/filepath"
)

// renamed is a temporary file that replaces another by being renamed, as Windows allows it. A new file is for whom its
// folder says.
type renamed struct {
	*os.File
	target string
	ended  bool
}

// newTemporary creates a temporary file next to the file that it will replace.
func newTemporary(target string, _ Mode) (temporary, error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target))
	if err != nil {
		return nil, err
	}
	return &renamed{File: f, target: target}, nil
}

// CloseAtomicallyReplace moves the file to its place.
func (r *renamed) CloseAtomicallyReplace() error {
	if err := errors.Join(r.Sync(), r.Close()); err != nil {
		return err
	}
	if err := os.Rename(r.Name(), r.target); err != nil {
		return err
	}
	r.ended = true
	return nil
}

// Cleanup removes the file, unless it is in its place.
func (r *renamed) Cleanup() error {
	if r.ended {
		return nil
	}
	r.ended = true
	_ = r.Close() // it may be closed
	return os.Remove(r.Name())
}
