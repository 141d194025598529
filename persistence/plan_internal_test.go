package persistence

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// scans matches a step of a query plan that scans a whole table.
var scans = regexp.MustCompile(`^SCAN (e|a|o|r|s|events|calls|invocations|sessions|session_state|user_state|app_state|b|tool_result_blobs|tool_result_chunks)\b`)

// The rows that a statement reads grow neither with the session nor with the other sessions of the
// file.
func TestNoStatementGoesThroughATable(t *testing.T) {
	t.Parallel()
	s, err := NewSQLiteSessionService(filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", s.name+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	searches := 0
	for _, query := range []string{
		selectActive, selectOvertaking, selectPage, selectSession, selectEvents, selectNewest, selectState,
		selectUnit, updateUnit, insertCall, updateConflicted, updateCopy, updateCovered, updateAbsorbed, updateAnchor,
		insertEvent, updateSession, insertInvocation, selectEventID,
		insertBlob, selectSessionKey, selectBlob, selectBlobKey, selectChunks,
	} {
		for _, step := range plan(t, db, query) {
			if scans.MatchString(step) {
				t.Errorf("%s\n\t%s", query, step)
			}
			if strings.HasPrefix(step, "SEARCH") {
				searches++
			}
		}
	}
	if searches < 20 {
		t.Errorf("only %d searches: the query plans changed", searches)
	}
	if bad := plan(t, db, "SELECT * FROM events WHERE author = 'x'"); !scans.MatchString(bad[0]) {
		t.Errorf("a scan is not recognized: %q", bad)
	}
}

// A search reads the events that it names and not all those of the session: SQLite prefers the index of the session's
// numbers if it may.
func TestASearchReadsOnlyTheEventsItNames(t *testing.T) {
	t.Parallel()
	s, err := NewSQLiteSessionService(filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", s.name+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]string{
		selectCandidates: "SEARCH events USING INTEGER PRIMARY KEY (rowid=?)",
		selectBeside:     "SEARCH events USING INDEX sqlite_autoindex_events_1 (session=? AND seq=?)",
		selectLoad:       "SEARCH events USING INTEGER PRIMARY KEY (rowid=?)",
		selectLengths:    "SEARCH search_docsize USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		if steps := plan(t, db, query); !slices.Contains(steps, want) {
			t.Errorf("%s\n\t%q", query, steps)
		}
	}
}

func plan(t *testing.T, db *sql.DB, query string) (steps []string) {
	t.Helper()
	parameter := regexp.MustCompile(`\?(\d*)`)
	args := make([]any, 0, 20)
	for _, found := range parameter.FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(found[1])
		if err != nil { // statement without numbered parameters
			n = len(args) + 1
		}
		args = args[:max(n, len(args))]
	}
	rows, err := db.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}
