package persistence_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/persistence"
)

// duplicate copies a file, and the files next to it with the given suffixes.
func duplicate(t *testing.T, path string, endings ...string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "copy.db")
	for _, end := range append([]string{""}, endings...) {
		data, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, to+end, string(data))
	}
	return to
}

// wantComplete fails the test unless a file opens both for writing and for reading only, and is
// reported complete.
func wantComplete(t *testing.T, path, what string) {
	t.Helper()
	for _, opts := range [][]persistence.Option{{persistence.WithReadOnly()}, nil, {persistence.WithReadOnly()}} {
		s, err := persistence.NewSQLiteSessionService(path, opts...)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if err := errors.Join(s.Incomplete(), s.Close()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestACopyWithoutItsLogSaysSo(t *testing.T) {
	t.Parallel()
	// The mark survives any number of writes, because the writer renews it when SQLite copies the
	// log into the file.
	for _, events := range []int{0, 1, 150, 450, 1000} {
		t.Run(fmt.Sprint(events), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path, persistence.WithSynchronousNormal())
			sess := create(t, s, "s")
			for n := range events {
				appendTo(t, s, sess, text(fmt.Sprint(n), strings.Repeat("word ", 20)))
			}
			half := duplicate(t, path)
			same := unchanged(t, half)
			if _, err := persistence.NewSQLiteSessionService(half); !errors.Is(err, persistence.ErrLogMissing) || !strings.Contains(err.Error(), half+"-wal") || !strings.Contains(err.Error(), "UPDATE identity") {
				t.Errorf("to write: %v", err)
			}
			reading, err := persistence.NewSQLiteSessionService(half, persistence.WithReadOnly())
			if err != nil {
				t.Fatal(err)
			}
			if err := reading.Incomplete(); !errors.Is(err, persistence.ErrLogMissing) || strings.Contains(err.Error(), "UPDATE") {
				t.Errorf("to read: %v", err)
			}
			if err := reading.Close(); err != nil {
				t.Fatal(err)
			}
			same()
			changed(t, half, "UPDATE identity SET wal = 0")
			wantComplete(t, half, "after the remedy")

			both := duplicate(t, path, "-wal")
			wantComplete(t, both, "with its log")
			again := open(t, both)
			if n := get(t, again, "s").Events().Len(); n != events {
				t.Errorf("%d events of %d with the log", n, events)
			}
		})
	}
}

func TestNoCompleteFileSaysThatItsLogIsMissing(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "files that one goroutine writes")
	filled := func(t *testing.T, s *persistence.SQLiteSessionService) {
		t.Helper()
		sess := create(t, s, "s")
		for n := range 250 {
			appendTo(t, s, sess, text(fmt.Sprint(n), ""))
		}
	}
	for name, made := range map[string]func(t *testing.T, path string) string{
		"closed": func(t *testing.T, path string) string {
			s := open(t, path)
			filled(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"closed by two, one after the other": func(t *testing.T, path string) string {
			a, b := open(t, path), open(t, path)
			filled(t, a)
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			for n := range 250 {
				appendTo(t, b, get(t, b, "s"), text(fmt.Sprint("b", n), ""))
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"a database of the caller": func(t *testing.T, path string) string {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, "", persistence.WithDB(db))
			filled(t, s)
			if err := errors.Join(s.Close(), db.Close()); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"a session deleted": func(t *testing.T, path string) string {
			s := open(t, path)
			filled(t, s)
			if err := errors.Join(s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}), s.Close()); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"backed up while it is used": func(t *testing.T, path string) string {
			filled(t, open(t, path))
			to := path + ".backup"
			changed(t, path, "VACUUM INTO '"+to+"'")
			return to
		},
		// A crash leaves the log. Any SQLite program may then copy it into the file.
		"crashed, and opened by another program": func(t *testing.T, path string) string {
			filled(t, open(t, path))
			to := duplicate(t, path, "-wal")
			changed(t, to, "CREATE TABLE theirs (x)", "DROP TABLE theirs")
			if _, err := os.Stat(to + "-wal"); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("the log still exists: %v", err)
			}
			return to
		},
		"of the first schema": func(t *testing.T, path string) string {
			s := open(t, path)
			filled(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			to := old(t, path)
			if err := open(t, to).Close(); err != nil { // migrates the schema
				t.Fatal(err)
			}
			return to
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantComplete(t, made(t, newPath(t)), name)
		})
	}
}

// A copy made right after a deletion also reports the missing log.
func TestTheMarkIsRenewedAfterADeletion(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	create(t, s, "s")
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, create(t, s, "t"), text("1", "")) // queued behind the deletion's renewal of the mark
	half := duplicate(t, path)
	if _, err := persistence.NewSQLiteSessionService(half); !errors.Is(err, persistence.ErrLogMissing) {
		t.Errorf("opened: %v", err)
	}
}
