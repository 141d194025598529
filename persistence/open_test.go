package persistence_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/persistence"
)

func TestEverythingSurvivesReopening(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, create(t, s, "s"), text("a", ""), text("b", ""))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	reopened := open(t, path)
	appendTo(t, reopened, get(t, reopened, "s"), text("c", ""))
	if got := ids(get(t, reopened, "s")); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("read %v", got)
	}
}

func TestWithDBUsesTheCallersDatabaseAndLeavesItOpen(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{"file": "file:" + newPath(t), "memory": ":memory:"} {
		for _, limit := range []int{0, 1, 2} {
			if name == "memory" && limit != 1 {
				continue // each connection would have a database of its own
			}
			db, err := sql.Open("sqlite", source)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(limit)
			s, err := persistence.NewSQLiteSessionService("", persistence.WithDB(db))
			if err != nil {
				t.Fatal(err)
			}
			id := string(rune('a' + limit))
			appendTo(t, s, create(t, s, id), text("a", ""))
			if got := ids(get(t, s, id)); !slices.Equal(got, []string{"a"}) {
				t.Errorf("%s, limit %d: read %v", name, limit, got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(context.Background(), "CREATE TABLE IF NOT EXISTS mine (x)"); err != nil {
				t.Errorf("%s, limit %d: the database cannot be used any more: %v", name, limit, err)
			}
			if _, err := db.ExecContext(context.Background(), "DROP TABLE mine"); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestUnusableOptionsAreRefused(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, r := range map[string]struct {
		path string
		opt  persistence.Option
	}{
		"path and database": {"x.db", persistence.WithDB(db)},
		"no database":       {"", persistence.WithDB(nil)},
		"no path":           {"", nil},
		"NUL in the path":   {"a\x00b", nil},
		"no time-out":       {newPath(t), persistence.WithBusyTimeout(time.Microsecond)},
	} {
		if s, err := persistence.NewSQLiteSessionService(r.path, r.opt); err == nil {
			t.Errorf("%s: accepted: %v", name, s.Close())
		}
	}
}

// TestClosingLeavesOneFile: a copy of the file alone is then a copy of everything.
func TestClosingLeavesOneFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, create(t, s, "s"), text("a", ""))
	get(t, s, "s")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if files := folder(t, path); len(files) != 1 || files[path] == nil {
		t.Errorf("%d files left", len(files))
	}
}
