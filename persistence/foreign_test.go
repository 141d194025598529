package persistence_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/persistence"
)

// damaged creates a session file with some events and then damages it.
func damaged(t *testing.T, damage func(t *testing.T, path string)) string {
	t.Helper()
	path := newPath(t)
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	sess := create(t, s, "s")
	for n := range 200 {
		appendTo(t, s, sess, typical(n))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path)
	return path
}

func run(statements ...string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range statements {
			if _, err := db.ExecContext(context.Background(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func overwrite(at int64, with string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte(with), at); err != nil {
			t.Fatal(err)
		}
	}
}

// spoilt damages the first page of a table.
func spoilt(table string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		var page, size int64
		err = db.QueryRowContext(t.Context(), "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?", table).Scan(&page, &size)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		overwrite((page-1)*size, "\xee")(t, path)
	}
}

// crashed replaces the file by one of another program that crashed, so that its whole content is in
// the write-ahead log.
func crashed(t *testing.T, path string) {
	alive := filepath.Join(t.TempDir(), "alive.db")
	db, err := sql.Open("sqlite", alive)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"PRAGMA journal_mode = WAL", "PRAGMA application_id = 9", "CREATE TABLE x (y)"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(alive + end)
		if err != nil || len(text) == 0 {
			t.Fatal(len(text), err)
		}
		writeFile(t, path+end, string(text))
	}
	writeFile(t, path+"-shm", "")
}

// The error gives the path, the cause and the remedy, and no byte of the folder changes.
func TestAFileThatIsNotOursIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	replaced := func(statements ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			run(statements...)(t, path)
		}
	}
	for name, r := range map[string]struct {
		damage      func(*testing.T, string)
		is          error
		cause, todo string
	}{
		"a foreign application_id": {damage: run("PRAGMA application_id = 1234"), is: persistence.ErrForeignFile, cause: "application_id is 0x4d2", todo: "choose another path"},
		"a crash's left-overs":     {damage: crashed, is: persistence.ErrForeignFile, cause: "application_id is 0x9", todo: "choose another path"},
		"a foreign one and WAL":    {damage: replaced("PRAGMA journal_mode = WAL", "PRAGMA application_id = 7", "CREATE TABLE x (y)"), is: persistence.ErrForeignFile, cause: "application_id is 0x7", todo: "choose another path"},
		"foreign tables":           {damage: replaced("CREATE TABLE sessions (x)"), is: persistence.ErrForeignFile, cause: "application_id is 0x0", todo: "choose another path"},
		"a foreign version":        {damage: replaced("PRAGMA user_version = 1"), is: persistence.ErrForeignFile, cause: "application_id is 0x0", todo: "choose another path"},
		"a newer version":          {damage: run("PRAGMA user_version = 1000"), is: persistence.ErrNewerSchema, cause: "user_version is 1000", todo: "use the newer version"},
		"a negative version":       {damage: run("PRAGMA user_version = -1"), cause: "user_version is"},
		"a text file":              {damage: func(t *testing.T, path string) { writeFile(t, path, strings.Repeat("notes\n", 100)) }, cause: "file is not a database", todo: "choose another path"},
		"a short file":             {damage: func(t *testing.T, path string) { writeFile(t, path, "x") }, is: persistence.ErrForeignFile, cause: "not a SQLite database", todo: "restore a backup"},
		"a damaged header":         {damage: overwrite(0, "SQLite\x00\x00\x00"), cause: "file is not a database", todo: "restore a backup"},
		"a damaged page size":      {damage: overwrite(16, "\x00\x03"), cause: "not a database", todo: "restore a backup"},
		"a damaged table":          {damage: spoilt("erasing"), cause: "malformed", todo: "restore a backup"},
		"a damaged index of words": {damage: spoilt("search_config"), cause: "malformed", todo: "restore a backup"},
		"a truncated file": {damage: func(t *testing.T, path string) {
			if err := os.Truncate(path, 5*4096); err != nil {
				t.Fatal(err)
			}
		}, is: persistence.ErrTruncated, cause: "truncated", todo: "restore a backup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := damaged(t, r.damage)
			before := folder(t, path)
			s, err := persistence.NewSQLiteSessionService(path)
			if err == nil {
				t.Fatalf("opened: %v", s.Close())
			}
			for _, want := range []string{path, r.cause, r.todo} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not contain %q", err, want)
				}
			}
			if r.is != nil && !errors.Is(err, r.is) {
				t.Errorf("%v is not %v", err, r.is)
			}
			for file, text := range folder(t, path) {
				if strings.HasSuffix(file, "-shm") && before[file] != nil {
					continue // contains locks and an index, no data
				}
				if was, ok := before[file]; !ok || !bytes.Equal(was, text) {
					t.Errorf("%s changed", file)
				}
			}
		})
	}
}

// folder returns all files next to path.
func folder(t *testing.T, path string) map[string][]byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, file := range found {
		if files[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return maps.Clone(files)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
