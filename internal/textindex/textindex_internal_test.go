package textindex

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/testkit"
)

// A search reads the events that it names and not all those of the session: SQLite prefers the index of the session's
// numbers if it may.
func TestASearchReadsOnlyTheEventsItNames(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a database of its own in memory
	steps, err := sessionfile.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if _, err := db.Exec(step); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		selectCandidates: "SEARCH events USING INTEGER PRIMARY KEY (rowid=?)",
		selectBeside:     "SEARCH events USING INDEX sqlite_autoindex_events_1 (session=? AND seq=?)",
		selectLoad:       "SEARCH events USING INTEGER PRIMARY KEY (rowid=?)",
		selectLengths:    "SEARCH search_docsize USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		if steps := testkit.QueryPlan(t, db, query); !slices.Contains(steps, want) {
			t.Errorf("%s\n\t%q", query, steps)
		}
	}
}

// The fewer of the index's rows a session has, the sooner its deletion merges.
func TestTheShareOfDeletedRowsFitsTheSession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ documents, all, want int64 }{
		{0, 0, 1}, {100, 100, 40}, {50, 100, 20}, {1, 1_000_000, 1},
	} {
		if got := NewMerger(tt.documents, tt.all, time.Second).share; got != int(tt.want) {
			t.Errorf("%d of %d: %d%%, want %d%%", tt.documents, tt.all, got, tt.want)
		}
	}
}
