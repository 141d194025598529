package sessionfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrMoved marks a call on a file that was moved, deleted or replaced after the service opened it.
var ErrMoved = errors.New("the file was moved, deleted or replaced while it was open")

// Place is the path at which a service opened its file, and the file that was there. SQLite keeps
// reading and writing a moved or deleted file, although nobody can find it anymore. It is nil
// for a database in memory.
type Place struct {
	full string
	info os.FileInfo
}

// PlaceOf returns the place of an open file.
func PlaceOf(full string) (*Place, error) {
	info, err := os.Stat(full)
	if err != nil {
		return nil, err
	}
	return &Place{full: full, info: info}, nil
}

// Check returns an error wrapping [ErrMoved] if the file is no longer at its path.
func (p *Place) Check() error {
	if p == nil {
		return nil
	}
	now, err := os.Stat(p.full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the file no longer exists: put it back with its -wal, or close the service and open the file where it is now", ErrMoved)
	case err != nil:
		return fmt.Errorf("%w, or its folder was: %w", ErrMoved, err)
	case !os.SameFile(now, p.info):
		return fmt.Errorf("%w: another file is in its place: close the service, and open the right one", ErrMoved)
	}
	return nil
}
