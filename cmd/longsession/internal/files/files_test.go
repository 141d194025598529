package files_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
)

// write creates a file in a folder of its own and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// usage fails unless err is an error of usage with a text.
func usage(t *testing.T, err error, want string) {
	t.Helper()
	if exit.CodeOf(t.Context(), err) != exit.CodeUsage || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

const database = "SQLite format 3\x00 and more"

func TestAnOutputThatSomebodyWouldMissIsRefused(t *testing.T) {
	t.Parallel()
	db := write(t, "a.db", database)
	usage(t, files.Output{Flag: "-o", Name: db}.Check(), "-o "+db+" is a SQLite database")
	usage(t, files.Output{Flag: "-o", Name: db + "-wal"}.Check(), "belongs to the database")
	usage(t, files.Output{Flag: "-o", Name: filepath.Dir(db)}.Check(), "is a folder: name a file in it")
	locked := write(t, "locked", "x")
	if err := os.Chmod(locked, 0o400); err != nil {
		t.Fatal(err)
	}
	usage(t, files.Output{Flag: "-o", Name: locked}.Check(), "is read-only: make it writable")
	below := filepath.Join(write(t, "plain", "x"), "below")
	usage(t, files.Output{Flag: "-o", Name: below}.Check(), "cannot write there")
	for _, fine := range []string{write(t, "old.txt", "x"), write(t, "a-wal", "x"), filepath.Join(t.TempDir(), "new.db-wal")} {
		if err := (files.Output{Flag: "-o", Name: fine}).Check(); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

func TestAnOutputStaysApartFromTheSessionFile(t *testing.T) {
	t.Parallel()
	db := write(t, "a.db", database)
	usage(t, files.Output{Flag: "-o", Name: db}.CheckApart(db), "is the session file itself")
	usage(t, files.Output{Flag: "-o", Name: db + "-shm"}.CheckApart(db), "belongs to the session file")
	if err := (files.Output{Flag: "-o", Name: db + ".md"}).CheckApart(db); err != nil {
		t.Error(err)
	}
}

func TestAFileIsReplacedAsAWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	path := write(t, "out", "old")
	broken := errors.New("broken")
	err := files.Output{Flag: "-o", Name: path}.Replace(func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	})
	if text, _ := os.ReadFile(path); !errors.Is(err, broken) || string(text) != "old" {
		t.Errorf("%v: the file has %q", err, text)
	}
	err = files.Output{Flag: "-o", Name: path}.Replace(func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	})
	info, statErr := os.Stat(path)
	if text, _ := os.ReadFile(path); err != nil || statErr != nil || string(text) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: the file has %q", err, statErr, text)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%d files are left: %v", len(left), err)
	}
	missing := files.Output{Flag: "--html", Name: filepath.Join(t.TempDir(), "no", "out")}
	usage(t, missing.Replace(func(io.Writer) error { return nil }), "--html "+missing.Name+": cannot write there")
}

func TestADatabaseThatAppearsMeanwhileIsNotReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	err := files.Output{Flag: "-o", Name: path}.Replace(func(io.Writer) error { return os.WriteFile(path, []byte(database), 0o600) })
	usage(t, err, "is a SQLite database")
	if text, _ := os.ReadFile(path); string(text) != database {
		t.Errorf("the database became %q", text)
	}
}

func TestADatabaseIsKnownByItsFirstBytes(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{database: true, "SQLite format 3\x00": true, "SQLite": false, "": false, `{"messages": []}`: false} {
		if got := files.IsDatabase(write(t, "f", content)); got != want {
			t.Errorf("%q: %v", content, got)
		}
	}
	if files.IsDatabase(t.TempDir()) || files.IsDatabase(filepath.Join(t.TempDir(), "missing")) {
		t.Error("a folder or a missing file is a database")
	}
}

func TestOneFileOfSeveralNamesIsTheSame(t *testing.T) {
	t.Parallel()
	path := write(t, "a", "x")
	folder := filepath.Dir(path)
	hard, soft, other := filepath.Join(folder, "hard"), filepath.Join(folder, "soft"), filepath.Join(folder, "b")
	if err := errors.Join(os.Link(path, hard), os.Symlink(path, soft)); err != nil {
		t.Skip("no links here: ", err)
	}
	for name, want := range map[string]bool{path: true, hard: true, soft: true, filepath.Join(folder, "x", "..", "a"): true, other: false} {
		if got := files.Same(name, path); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !files.SameAsAny(soft, []string{other, path}) || files.SameAsAny(other, nil) {
		t.Error("SameAsAny disagrees with Same")
	}
	if all := files.OfDatabase(soft); !slices.Equal(all, []string{files.Resolved(path), files.Resolved(path) + "-wal", files.Resolved(path) + "-shm", files.Resolved(path) + "-journal"}) {
		t.Errorf("%q", all)
	}
}

func TestTheCauseHasNoPath(t *testing.T) {
	t.Parallel()
	_, err := os.Open(filepath.Join(t.TempDir(), "missing"))
	if got := files.Cause(err); !errors.Is(got, os.ErrNotExist) || strings.Contains(got.Error(), "missing") {
		t.Errorf("got %v", got)
	}
	if plain := errors.New("x"); files.Cause(plain) != plain {
		t.Error("another error was changed")
	}
}
