package tools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Why a file is not opened, besides the errors of the system.
var (
	errFolder  = errors.New("it is a folder")
	errNotFile = errors.New("it is not a regular file")
	errProc    = errors.New("it belongs to the system's proc or sys filesystem")
)

// open opens a regular file. A FIFO or device would block, so the type is checked before it is opened, and
// again on the open file: somebody may have put another one in its place.
func (f *Files) open(name string) (*os.File, fs.FileInfo, error) {
	local := filepath.FromSlash(name)
	info, err := f.root.Stat(local)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(local, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = file.Stat()
	if err == nil {
		err = regular(info)
	}
	if err == nil && onSystemFS(file) {
		err = errProc
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular():
		return errNotFile
	}
	return nil
}

// readDir returns at most so many entries of a folder, in no order, and whether there are more.
func (f *Files) readDir(ctx context.Context, name string, most int) (entries []fs.DirEntry, more bool, err error) {
	local := filepath.FromSlash(name)
	info, err := f.root.Stat(local)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, syscall.ENOTDIR
	}
	dir, err := f.root.OpenFile(local, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	for len(entries) <= most {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		some, err := dir.ReadDir(1_000)
		entries = append(entries, some...)
		if err != nil || len(some) == 0 { // io.EOF, or an error behind which nothing can be read
			break
		}
	}
	if len(entries) > most {
		return entries[:most], true, nil
	}
	return entries, false, nil
}
