package persistence_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

// secret is in every text of the deleted session.
const secret = "the-secret-word"

// secrets returns the files of a database that contain the secret.
func secrets(t *testing.T, path string) (found []string) {
	t.Helper()
	for _, name := range []string{path, path + "-wal", path + "-journal"} {
		data, err := os.ReadFile(name)
		if err != nil {
			if os.IsNotExist(err) {
				continue
			}
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte(secret)); n > 0 {
			found = append(found, fmt.Sprint(strings.TrimPrefix(name, path), " has it ", n, " times"))
		}
	}
	return found
}

func TestWhatIsDeletedIsNotInTheFileAnyMore(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]func(t *testing.T, path string) *persistence.SQLiteSessionService{
		"a path": func(t *testing.T, path string) *persistence.SQLiteSessionService { return open(t, path) },
		"a database of the caller": func(t *testing.T, path string) *persistence.SQLiteSessionService {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return open(t, "", persistence.WithDB(db))
		},
		"a connection alone": func(t *testing.T, path string) *persistence.SQLiteSessionService {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			db.SetMaxOpenConns(1)
			t.Cleanup(func() { db.Close() })
			return open(t, "", persistence.WithDB(db))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := service(t, path)
			kept := create(t, s, "kept")
			gone, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: "gone", State: map[string]any{"word": secret}})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 40 {
				appendTo(t, s, kept, text(fmt.Sprint(n), strings.Repeat("something else ", n*7)))
				ev := text(fmt.Sprint(n), strings.Repeat(secret+" ", 1+n*n)) // from one cell to many pages
				ev.InvocationID = secret + ev.InvocationID
				ev.Actions.StateDelta = map[string]any{"word": fmt.Sprint(secret, n)}
				appendTo(t, s, gone.Session, ev)
			}
			if len(secrets(t, path)) == 0 {
				t.Fatal("the secret is not in the file before the deletion, so the test proves nothing")
			}
			if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "gone"}); err != nil {
				t.Fatal(err)
			}
			// Check without closing the service: an app may run for months.
			if found := secrets(t, path); len(found) > 0 {
				t.Errorf("after the deletion: %v", found)
			}
			if n := get(t, s, "kept").Events().Len(); n != 40 {
				t.Errorf("%d events of the other session are left", n)
			}
			appendTo(t, s, kept, text("more", "more"))
		})
	}
}

// A running reader still sees the deleted session, so the files do too. The session is erased after
// the reader ends.
func TestADeletionDuringAReadingIsErasedLater(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	kept := create(t, s, "kept")
	gone := create(t, s, "gone")
	appendTo(t, s, gone, text("1", strings.Repeat(secret, 5000)))
	reading, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	tx, err := reading.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM events").Scan(&n); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "gone"}); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, kept, text("2", "")) // does not wait for the reader
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, kept, text("3", ""), text("4", "")) // erasing is retried after one or two transactions
	if found := secrets(t, path); len(found) > 0 {
		t.Errorf("after the reader ended: %v", found)
	}
}
