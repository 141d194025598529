package testkit

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// DropSearch takes the index of words, the newest part of the schema, out of a session file, as a file of an older
// version has none.
const DropSearch = `DROP TRIGGER events_unindexed; DROP TABLE search_words; DROP TABLE search; DROP TABLE search_turns;
	DROP TABLE search_authors; DROP TABLE search_terms; DROP TABLE search_episodes; DROP TABLE search_sessions; DROP TABLE erasing`

// FirstCompactions puts the view compactions of the first migration in place of the newest.
func FirstCompactions(t testing.TB) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	script, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../sessionfile/migrations/0001_sessions.sql"))
	if err != nil {
		t.Fatal(err)
	}
	_, view, found := strings.Cut(string(script), "CREATE VIEW compactions")
	view, _, ended := strings.Cut(view, ";")
	if !found || !ended {
		t.Fatal("the first migration has no such view")
	}
	return "DROP VIEW compactions; CREATE VIEW compactions" + view
}
