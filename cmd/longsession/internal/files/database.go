package files

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// SQLiteMagic is the beginning of every SQLite file.
var SQLiteMagic = []byte("SQLite format 3\x00")

// sidecars are the endings of the files that SQLite keeps next to a database.
var sidecars = []string{"-wal", "-shm", "-journal"}

// IsDatabase reports whether a file is a SQLite database.
func IsDatabase(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(SQLiteMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, SQLiteMagic)
}

// CheckSidecar refuses a file that SQLite keeps, or would keep, next to an existing database.
func (o Output) CheckSidecar() error {
	place := Resolved(o.Name)
	for _, suffix := range sidecars {
		if base, found := strings.CutSuffix(place, suffix); found && IsDatabase(base) {
			return exit.Usage("%s %s belongs to the database %s: name another file", o.Flag, o.Name, base)
		}
	}
	return nil
}

// OfDatabase returns the path of a database and those of its sidecars, whether they exist or not.
func OfDatabase(name string) []string {
	full := Resolved(name)
	all := []string{full}
	for _, suffix := range sidecars {
		all = append(all, full+suffix)
	}
	return all
}

// SameAsAny reports whether a file is one of others.
func SameAsAny(name string, others []string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return Same(name, other) })
}

// Same reports whether two names lead to one file, which need not exist.
func Same(a, b string) bool {
	if Resolved(a) == Resolved(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Resolved returns the absolute path of a file, following links as far as they exist.
func Resolved(name string) string {
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
