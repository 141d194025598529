package persistence

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
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
		for _, step := range testkit.QueryPlan(t, db, query) {
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
	if bad := testkit.QueryPlan(t, db, "SELECT * FROM events WHERE author = 'x'"); !scans.MatchString(bad[0]) {
		t.Errorf("a scan is not recognized: %q", bad)
	}
}
