package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// open opens a result. A link or a pipe in its place is an error.
func (f *Folder) open(name string) (*os.File, int64, error) {
	before, err := f.root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !before.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no regular file", name)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	after, err := file.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%s was replaced", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, after.Size(), nil
}

// write creates a file under a name that nobody can guess, and gives it its own name at the end. If two
// processes store one result at once, the second replaces the file with an equal one.
func (f *Folder) write(dir, name, content string) (err error) {
	if err := f.root.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := f.root.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is no folder", dir))
	}
	temporary := path.Join(dir, unfinished+rand.Text())
	file, err := f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.root.Remove(temporary))
		}
	}()
	_, err = io.Copy(file, strings.NewReader(content))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return f.root.Rename(temporary, name)
}

// claim waits until no other Put of this process stores the result, so that its size counts once. The caller
// calls done when the result is stored.
func (f *Folder) claim(ctx context.Context, name string) (done func(), err error) {
	for {
		f.mu.Lock()
		other, busy := f.writing[name]
		if !busy {
			own := make(chan struct{})
			f.writing[name] = own
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				delete(f.writing, name)
				close(own)
			}, nil
		}
		f.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// reserve counts the bytes of a result that is about to be stored, if there is room for them.
func (f *Folder) reserve(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size > f.max-f.used {
		return &QuotaError{Size: size, Used: f.used, Max: f.max}
	}
	f.used += size
	return nil
}

// release takes back what reserve counted.
func (f *Folder) release(size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used = max(0, f.used-size)
}

// sizeOf adds up the files below a path. Files that disappear meanwhile do not count.
func (f *Folder) sizeOf(dir string) (size int64, err error) {
	err = fs.WalkDir(f.root.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if name != dir && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size, err
}
