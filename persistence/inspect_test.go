package persistence_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/persistence"
)

// A crash while the file is created leaves a journal that must be rolled back. Opening inspects the
// file without writing, so its error must give the remedy.
func TestAFileWhoseFirstWriteWasCutOffSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions.db")
	unfinished, err := sql.Open("sqlite", filepath.Join(dir, "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer unfinished.Close()
	unfinished.SetMaxOpenConns(1)
	for _, query := range []string{
		"PRAGMA cache_size=1", "BEGIN", "CREATE TABLE t(x)",
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n<2000) INSERT INTO t SELECT randomblob(400) FROM c",
	} {
		if _, err := unfinished.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	made, err := sql.Open("sqlite", filepath.Join(dir, "b.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.Exec("PRAGMA journal_mode=WAL"); err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"a.db-journal": "sessions.db-journal", "b.db": "sessions.db"} {
		data, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := persistence.NewSQLiteSessionService(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("opening returns %v, want the path and that a write was interrupted", err)
	}
}

// The timeout also applies to the first inspection of a file. Otherwise this test would take ten
// seconds, because the default timeout is meant for a slow disk.
func TestTheBusyTimeoutHoldsForTheFirstLook(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	held, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	held.SetMaxOpenConns(1)
	for _, query := range []string{"PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE", "PRAGMA user_version"} {
		if _, err := held.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if _, err := persistence.NewSQLiteSessionService(path, persistence.WithBusyTimeout(20*time.Millisecond)); err == nil {
		t.Error("a locked file was opened")
	}
	t.Logf("gave up after %v", time.Since(began))
}
