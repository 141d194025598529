package persistence_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

// unchanged returns a function that fails the test if any file of a folder changed. Only -shm may
// change, because SQLite keeps its readers there.
func unchanged(t *testing.T, path string) func() {
	t.Helper()
	before := folder(t, path)
	_, shared := before[path+"-shm"]
	return func() {
		t.Helper()
		after := folder(t, path)
		if _, found := after[path+"-shm"]; found && shared {
			after[path+"-shm"] = before[path+"-shm"]
		}
		if !maps.EqualFunc(before, after, bytes.Equal) {
			t.Errorf("the folder of %s changed: it had %v, and has %v", path, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
		}
	}
}

func closed(t *testing.T, h *ct.History) (path string) {
	t.Helper()
	path = newPath(t)
	s := open(t, path)
	appendTo(t, s, create(t, s, "s"), h.Events...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadingOnlyReadsEverythingAndWritesNothing(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2", "e3")
	path := closed(t, h)
	same := unchanged(t, path)
	s := open(t, path, persistence.WithReadOnly())
	sess := get(t, s, "s")
	if got := ids(sess); len(got) != 9 || !slices.Equal(got, ct.IDs(h.Events)) {
		t.Errorf("read %v, want %v", got, ct.IDs(h.Events))
	}
	_, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user})
	for doing, err := range map[string]error{
		"create": err,
		"append": s.AppendEvent(t.Context(), sess, text("late", "more")),
		"delete": s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}),
	} {
		if !errors.Is(err, persistence.ErrReadOnly) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "without WithReadOnly") {
			t.Errorf("%s: %v", doing, err)
		}
	}
	if got := ids(get(t, s, "s")); len(got) != 9 {
		t.Errorf("%d events after refused writes", len(got))
	}
	err = s.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
		rows, err := snap.Query(t.Context(), "DELETE FROM events RETURNING seq")
		if err == nil {
			for rows.Next() {
			}
			err = errors.Join(rows.Err(), rows.Close())
		}
		if err == nil {
			t.Error("a query could write")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	same()
}

// A damaged event does not hide the others.
func TestASnapshotHasRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	path := closed(t, (&ct.History{}).Turns(2, "bot").Compact("r1", "e1", "e2"))
	run("UPDATE events SET content = '{' WHERE id = 'e3'")(t, path)
	s := open(t, path, persistence.WithReadOnly())
	var got []string
	err := s.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
		for row, err := range sessionfile.Rows(t.Context(), snap, 1, 2, -1) {
			if err != nil {
				return err
			}
			if (row.Event == nil) != (row.Err != nil) || row.Event != nil && row.Event.ID != row.ID {
				t.Errorf("row %+v", row)
			}
			mark := row.ID + " " + row.RecordID + " " + row.CoveredBy
			if row.Err != nil {
				mark += "damaged"
			}
			got = append(got, strings.TrimSpace(mark))
		}
		return nil
	})
	if want := []string{"e2  r1", "e3  damaged", "e4", "event-of-r1 r1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q (%v)", got, want, err)
	}
	if err := open(t, newPath(t)).Snapshot(t.Context(), func(*persistence.Snapshot) error { return nil }); err == nil {
		t.Error("a service that writes returned a snapshot")
	}
}

// SQLite alone would not notice these cases.
func TestAFileThatCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.db")
	for name, r := range map[string]struct {
		path        string
		is          error
		cause, todo string
	}{
		"not there":            {path: missing, is: fs.ErrNotExist, cause: "no such file", todo: "check the path"},
		"a folder":             {path: t.TempDir(), is: persistence.ErrForeignFile, cause: "it is a folder", todo: "name the file in it"},
		"empty":                {path: damaged(t, func(t *testing.T, path string) { writeFile(t, path, "") }), is: persistence.ErrForeignFile, cause: "0 bytes", todo: "choose another path"},
		"text":                 {path: damaged(t, func(t *testing.T, path string) { writeFile(t, path, strings.Repeat("text ", 999)) }), cause: "not a database", todo: "choose another path"},
		"of another program":   {path: damaged(t, run("PRAGMA application_id = 7")), is: persistence.ErrForeignFile, cause: "application_id is 0x7", todo: "choose another path"},
		"without a schema":     {path: damaged(t, run("PRAGMA user_version = 0")), is: persistence.ErrForeignFile, cause: "user_version is 0", todo: "choose another path"},
		"of a newer version":   {path: damaged(t, run("PRAGMA user_version = 99")), is: persistence.ErrNewerSchema, cause: "user_version is 99", todo: "use the newer version"},
		"a crash's left-overs": {path: damaged(t, crashed), is: persistence.ErrForeignFile, cause: "application_id is 0x9", todo: "choose another path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same := func() {}
			if name != "a folder" {
				same = unchanged(t, r.path)
			}
			_, err := persistence.NewSQLiteSessionService(r.path, persistence.WithReadOnly())
			if err == nil || r.is != nil && !errors.Is(err, r.is) {
				t.Fatalf("error %v, want %v", err, r.is)
			}
			for _, part := range []string{r.path, r.cause, r.todo} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not contain %q", err, part)
				}
			}
			same()
		})
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("the missing file was created")
	}
	for _, path := range []string{":memory:", ""} {
		if _, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly()); err == nil {
			t.Errorf("path %q is opened", path)
		}
	}
}

func TestAFileThatIsHeldIsRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	path := closed(t, (&ct.History{}).Turns(1, "bot"))
	held, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	held.SetMaxOpenConns(1)
	for _, query := range []string{"PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE", "PRAGMA user_version = 1", "INSERT INTO app_state VALUES ('a', 'b', 'c')"} {
		if _, err := held.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	_, err = persistence.NewSQLiteSessionService(path, persistence.WithReadOnly(), persistence.WithBusyTimeout(20*time.Millisecond))
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "has locked the file") {
		t.Errorf("error %v", err)
	}
}
