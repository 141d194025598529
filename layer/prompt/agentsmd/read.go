package agentsmd

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// attempts is how often a file is read that changes in the meantime.
const attempts = 3

var errChanged = errors.New("changed while it was read")

// read returns the beginning of a file and its size. transient means that the next attempt may end
// differently though the file looks the same.
func (s settings) read(f found) (data []byte, size int64, transient bool, problem *FileError) {
	data, size, err := s.readOnce(f)
	for n := 1; n < attempts && errors.Is(err, errChanged); n++ {
		info, gone := os.Lstat(f.path)
		if gone != nil {
			err = gone
			break
		}
		if f.settle(info); f.err != nil {
			return nil, 0, true, f.err
		}
		data, size, err = s.readOnce(f)
	}
	var reason string
	switch {
	case err == nil:
		return data, size, false, nil
	case errors.Is(err, errChanged):
		reason, err = "changed each time that it was read: it is read again in the next run", nil
	case errors.Is(err, fs.ErrNotExist):
		reason = "has gone before it was read: it is read in the next run if it is there again"
	case errors.Is(err, fs.ErrPermission):
		reason = "cannot be read: give this user permission to read it"
	default:
		reason = "cannot be read"
	}
	return nil, 0, true, &FileError{Path: f.path, Reason: reason, Err: err}
}

// readOnce reads a file that must still be the one that was found, before and after.
func (s settings) readOnce(f found) (data []byte, size int64, err error) {
	if s.beforeOpen != nil {
		s.beforeOpen(f.path)
	}
	root, err := os.OpenRoot(f.folder) // a link that has appeared since then does not lead out of it
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(f.name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() || !unchanged(f.info, info) {
		return nil, 0, errChanged
	}
	if data, err = io.ReadAll(io.LimitReader(file, maxFileBytes)); err != nil {
		return nil, 0, err
	}
	if s.beforeCheck != nil {
		s.beforeCheck(f.path)
	}
	if info, err = file.Stat(); err != nil {
		return nil, 0, err
	}
	if !unchanged(f.info, info) {
		return nil, 0, errChanged
	}
	return data, info.Size(), nil
}
