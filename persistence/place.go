package persistence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrMoved marks a call on a file that was moved, deleted or replaced after the service opened it.
var ErrMoved = errors.New("the file was moved, deleted or replaced while it was open")

// place is where a service found its file, to notice that another one is there now: what SQLite has open
// would otherwise be read and written on, although nobody can find it any more. A nil one is that of a
// database in memory.
type place struct {
	full string
	info os.FileInfo
}

// placeOf returns the place of a file that is open.
func placeOf(full string) (*place, error) {
	info, err := os.Stat(full)
	if err != nil {
		return nil, err
	}
	return &place{full: full, info: info}, nil
}

// still returns an error wrapping [ErrMoved] if the file is not where it was.
func (p *place) check() error {
	if p == nil {
		return nil
	}
	now, err := os.Stat(p.full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no file any more: put it back with its -wal, or close the service and open the file where it is now", ErrMoved)
	case err != nil:
		return fmt.Errorf("%w, or its folder was: %w", ErrMoved, err)
	case !os.SameFile(now, p.info):
		return fmt.Errorf("%w: another file is in its place: close the service, and open the right one", ErrMoved)
	}
	return nil
}
