package persistence_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

// A damaged page is reported when it is read. The other pages can still be read.
func TestADamagedPageIsReportedWhenItIsRead(t *testing.T) {
	t.Parallel()
	path := damaged(t, func(t *testing.T, path string) {
		run("DELETE FROM events WHERE seq > 190")(t, path)
		root := number(t, path, "SELECT rootpage FROM sqlite_schema WHERE name = 'events'")
		overwrite(int64(root-1)*4096, strings.Repeat("\xaa", 4096))(t, path)
	})
	s := open(t, path)
	_, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "s"})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v", err)
	}
	if listed, err := s.List(t.Context(), &session.ListRequest{AppName: app}); err != nil || len(listed.Sessions) != 1 {
		t.Errorf("the list of sessions: %v", err)
	}
}

func TestAnUnusablePathIsExplained(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"a folder":         t.TempDir(),
		"a missing folder": filepath.Join(t.TempDir(), "missing", "x.db"),
	} {
		_, err := persistence.NewSQLiteSessionService(path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), ": choose another path") && !strings.Contains(err.Error(), "check that the folder exists") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// small opens a service on a file with a limited number of pages, which simulates a full disk.
func small(t *testing.T, path string, pages int) *persistence.SQLiteSessionService {
	t.Helper()
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?_pragma=max_page_count(%d)", path, pages))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return open(t, "", persistence.WithDB(db))
}

// A full disk loses no stored event and leaves the handle unchanged. Appends succeed again once
// there is room.
func TestAFullDiskLosesNothingAndLeavesTheHandle(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := small(t, path, 80)
	appendTo(t, s, create(t, s, "old"), text("a", strings.Repeat("much ", 10_000)))
	sess := create(t, s, "s")
	stored := 0
	event := func() *session.Event {
		ev := text(fmt.Sprint(stored), strings.Repeat("much ", 2000))
		ev.Actions.StateDelta = map[string]any{"n": float64(stored)}
		return ev
	}
	var err error
	for err == nil {
		if err = s.AppendEvent(t.Context(), sess, event()); err == nil {
			stored++
		}
	}
	for _, want := range []string{path, "full", "free space"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not contain %q", err, want)
		}
	}
	for name, sess := range map[string]session.Session{"handle": sess, "file": get(t, s, "s")} {
		last, err := sess.State().Get("n")
		if sess.Events().Len() != stored || err != nil || last != float64(stored-1) {
			t.Errorf("the %s has %d events and state %v (%v), want %d events", name, sess.Events().Len(), last, err, stored)
		}
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "old"}); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, sess, event())
}

// Appends that share a transaction do not share its failure.
func TestAFullDiskTellsEachWriterTheTruth(t *testing.T) {
	t.Parallel()
	s := small(t, newPath(t), 100)
	var mu sync.Mutex
	refused := 0
	var wg sync.WaitGroup
	for g := range 8 {
		sess := create(t, s, fmt.Sprint(g))
		wg.Go(func() {
			for n := range 20 {
				size := 10
				if n%2 == 0 {
					size = 3000
				}
				if err := s.AppendEvent(context.Background(), sess, text(fmt.Sprint(n), strings.Repeat("much ", size))); err != nil {
					mu.Lock()
					refused++
					mu.Unlock()
					if !strings.Contains(err.Error(), "full") {
						t.Error(err)
					}
				}
			}
			if got := ids(get(t, s, fmt.Sprint(g))); !slices.Equal(got, ids(sess)) {
				t.Errorf("session %d: %v stored, %v acknowledged", g, got, ids(sess))
			}
		})
	}
	wg.Wait()
	if refused < 8 {
		t.Errorf("only %d appends were refused", refused)
	}
}

// After the timeout a write reports the lock. Reads still work.
func TestALockedFileIsReportedAfterTheTimeout(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, persistence.WithBusyTimeout(10*time.Millisecond))
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("a", ""))
	unlock := lock(t, path)
	err := s.AppendEvent(t.Context(), sess, text("b", ""))
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "locked") || !strings.Contains(err.Error(), "WithBusyTimeout") {
		t.Errorf("error %v", err)
	}
	if _, err := persistence.NewSQLiteSessionService(path, persistence.WithBusyTimeout(10*time.Millisecond)); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("opening a locked file: %v", err)
	}
	if n := get(t, s, "s").Events().Len(); n != 1 || sess.Events().Len() != 1 {
		t.Errorf("%d events stored, %d in the handle", n, sess.Events().Len())
	}
	unlock()
	appendTo(t, s, sess, text("b", ""))
}

// lock takes the write lock, like a process that hangs in a transaction.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		conn.Close()
		db.Close()
	}
}
