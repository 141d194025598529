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

// TestAFileInAReadOnlyFolderCanBeRead: SQLite alone cannot open one in WAL mode there.
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
		// The goroutines of database/sql open no connection: the first one stands.
		if n := len(ids(get(t, s, "s"))); n != 6 {
			t.Errorf("%d events", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	same()
}

// TestAnUnfinishedFileInAReadOnlyFolderSaysWhatToDo: nobody may rebuild its -shm.
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
				t.Errorf("%q does not say %q", err, part)
			}
		}
	})
	same()
}

// sealed calls do while the folder of a file may be read and not written.
func sealed(t *testing.T, path string, do func()) {
	t.Helper()
	for dir := filepath.Dir(filepath.Dir(path)); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Skipf("cannot let another user pass: %v", err)
		}
	}
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(filepath.Dir(path), 0o555)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700)
	withoutPrivileges(t, do)
}
