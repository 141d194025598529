package persistence_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
)

// SQLite alone cannot open a file in WAL mode in a read-only folder.
func TestAFileInAReadOnlyFolderCanBeRead(t *testing.T) {
	t.Parallel()
	path := closed(t, (&ct.History{}).Turns(3, "bot"))
	same := unchanged(t, path)
	sealed(t, path, func() {
		s, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly())
		if err != nil {
			t.Error(err)
			return
		}
		// Goroutines of database/sql open no further connection, so the first one must be enough.
		if n := len(ids(get(t, s, "s"))); n != 6 {
			t.Errorf("%d events", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	same()
}

// The error reports the remedy, because the -shm file cannot be created.
func TestAnUnfinishedFileInAReadOnlyFolderSaysWhatToDo(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	alive := open(t, path)
	create(t, alive, "s")
	copied := newPath(t)
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, copied+end, string(data))
	}
	same := unchanged(t, copied)
	sealed(t, copied, func() {
		s, err := persistence.NewSQLiteSessionService(copied, persistence.WithReadOnly())
		if err == nil {
			t.Error(errors.Join(errors.New("opened without its -shm"), s.Close()))
			return
		}
		for _, part := range []string{copied, "-wal", "copy both files"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not contain %q", err, part)
			}
		}
	})
	same()
}

// sealed calls do while the folder of a file is readable but not writable.
func sealed(t *testing.T, path string, do func()) {
	t.Helper()
	for dir := filepath.Dir(filepath.Dir(path)); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Skipf("cannot switch to another user: %v", err)
		}
	}
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(filepath.Dir(path), 0o555)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700)
	withoutPrivileges(t, do)
}
