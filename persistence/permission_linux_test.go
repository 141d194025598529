package persistence_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/adk-go-ext/longsession/persistence"
)

// Files without the needed permissions are refused when they are opened, not in the first turn.
func TestWhatMayNotBeWrittenIsRefusedWhenItIsOpened(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		folder, file os.FileMode
	}{
		"a read-only file":             {0o777, 0o444},
		"a read-only folder":           {0o555, 0o666},
		"a read-only file and folder":  {0o555, 0o444},
		"a file that may not be read":  {0o777, 0o000},
		"a new file in such a folder":  {0o555, 0},
		"a folder that is not entered": {0o000, 0o666},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := damaged(t, func(*testing.T, string) {})
			before := folder(t, path)
			if strings.HasPrefix(name, "a new file") {
				path = filepath.Join(filepath.Dir(path), "new.db")
			} else if err := os.Chmod(path, r.file); err != nil {
				t.Fatal(err)
			}
			for dir := filepath.Dir(filepath.Dir(path)); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Skipf("cannot switch to another user: %v", err)
				}
			}
			if err := os.Chmod(filepath.Dir(path), r.folder); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(filepath.Dir(path), 0o700)
			var err error
			withoutPrivileges(t, func() {
				var s *persistence.SQLiteSessionService
				if s, err = persistence.NewSQLiteSessionService(path); err == nil {
					err = s.Close()
					t.Errorf("opened: %v", err)
				}
			})
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "this process") {
				t.Errorf("error %v", err)
			}
			if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			after := folder(t, path)
			for file, text := range before {
				if string(after[file]) != string(text) {
					t.Errorf("%s changed", file)
				}
			}
		})
	}
}

// withoutPrivileges calls do on a thread without root's file permissions. The thread takes the file
// system identity of another user, and ends afterwards.
func withoutPrivileges(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	const nobody = 65534
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so the thread ends with its goroutine
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

// TestAPipeIsNoSessionFile: opening it for writing would wait for somebody who reads it.
func TestAPipeIsNoSessionFile(t *testing.T) {
	t.Parallel()
	pipe := newPath(t)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, opts := range [][]persistence.Option{nil, {persistence.WithReadOnly()}} {
		if _, err := persistence.NewSQLiteSessionService(pipe, opts...); !errors.Is(err, persistence.ErrForeignFile) || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%d options: %v", len(opts), err)
		}
	}
}
