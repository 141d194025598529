package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
)

// pendingFile makes a temporary file that takes the place of the file that a flag names, or that a link of that
// name leads to. Only a regular file is ever replaced: a device or a pipe would be gone for everybody.
func pendingFile(flag, name string, options ...renameio.Option) (*renameio.PendingFile, error) {
	target, err := destination(flag, name)
	if err != nil {
		return nil, err
	}
	file, err := renameio.NewPendingFile(target, append(options, renameio.WithTempDir(filepath.Dir(target)))...)
	if err != nil {
		return nil, badInput("%s %s: cannot write there: %w; name a file in a folder that exists and may be written to", flag, name, cause(err))
	}
	return file, nil
}

// destination returns the path of the file that is to be written.
func destination(flag, name string) (string, error) {
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return "", badInput("%s %s is a folder: name a file in it", flag, name)
	case err == nil && !info.Mode().IsRegular():
		return "", badInput("%s %s is no regular file: name a file to write to", flag, name)
	case err == nil:
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			return "", badInput("%s %s: cannot write there: %w; name a file to write to", flag, name, cause(err))
		}
		return target, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", badInput("%s %s: cannot write there: %w; name a file to write to", flag, name, cause(err))
	}
	if _, err := os.Lstat(name); err == nil {
		return "", badInput("%s %s is a link that leads nowhere: name a file to write to", flag, name)
	}
	return name, nil
}

// cause is an error without a path: that of a temporary file says nothing.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// databaseFiles are the files of a session file: itself and what SQLite keeps beside it, also while they are
// not there.
func databaseFiles(name string) []string {
	full := resolved(name)
	return []string{full, full + "-wal", full + "-shm", full + "-journal"}
}

// isAny reports whether a file is one of others.
func isAny(name string, of []string) bool {
	return slices.ContainsFunc(of, func(other string) bool { return sameFile(name, other) })
}

// sameFile reports whether two names lead to one file, which need not be there.
func sameFile(a, b string) bool {
	if resolved(a) == resolved(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// resolved returns the path of a file without links, as far as it is there.
func resolved(name string) string {
	full, err := filepath.Abs(name)
	if err != nil {
		return filepath.Clean(name)
	}
	if target, err := filepath.EvalSymlinks(full); err == nil {
		return target
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		return filepath.Join(folder, filepath.Base(full))
	}
	return full
}
