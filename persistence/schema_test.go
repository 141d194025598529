package persistence_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// audited creates the file that the queries of docs/schema.md read. User ada has a session with two
// compactions, the second of which absorbs the first. Another user has a session too.
func audited(t *testing.T) *sql.DB {
	t.Helper()
	path := newPath(t)
	s := open(t, path)
	h := &compactiontest.History{}
	h.User("i1", "Where is my parcel?").
		Call("i1", "desk", "track", "c1").Response("i1", "desk", "track", "in Kassel", "c1").
		Agent("i1", "desk", "In Kassel.").User("i2", "Thanks").Agent("i2", "desk", "Welcome.").
		User("i3", "Bye").Agent("i3", "desk", "Bye!")
	for i, ev := range h.Events {
		ev.ID = fmt.Sprintf("e%d", i+1)
	}
	h.Events[3].Actions.StateDelta = map[string]any{"status": "in transit"}
	h.Events[3].UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 90, CandidatesTokenCount: 10, TotalTokenCount: 100}
	h.Events[7].ErrorCode = "OVERLOADED"
	h.Events[7].Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{"c1": {Hint: "really?"}}
	resp, err := s.Create(context.Background(), &session.CreateRequest{AppName: "shop", UserID: "ada", SessionID: "order-1"})
	if err != nil {
		t.Fatal(err)
	}
	summary := func(id string, covered []*session.Event, absorbed ...string) *session.Event {
		m := &record.Metadata{
			RecordID: id, Kind: record.KindSummary, Trigger: record.TriggerInvocations, CreatedAt: time.Now(),
			StartTimestamp: h.Events[0].Timestamp, EndTimestamp: h.Events[5].Timestamp,
			EventCount: 4, OriginalTokens: 200, CompactedTokens: 50, CompressionRatio: 4, Absorbed: absorbed, Usage: record.Usage{PromptTokens: 300, OutputTokens: 50},
		}
		for _, ev := range covered {
			m.Covered = append(m.Covered, record.RefTo(ev))
		}
		if len(absorbed) > 0 {
			m.Kind, m.Trigger, m.Focus, m.Note = record.KindCheckpoint, record.TriggerCheckpoint, "the parcel", "delivered"
		}
		if err := m.SetText("summary " + id); err != nil {
			t.Fatal(err)
		}
		ev := histories.RecordEvent(m, time.Now())
		return ev
	}
	appendTo(t, s, resp.Session, h.Events[:6]...)
	appendTo(t, s, resp.Session, summary("r1", h.Events[:4]), summary("r2", h.Events[4:6], "r1"))
	appendTo(t, s, resp.Session, h.Events[6:]...)
	resp, err = s.Create(context.Background(), &session.CreateRequest{AppName: "shop", UserID: "bob", SessionID: "order-1"})
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, resp.Session, text("e1", "nothing to do with it"))
	db, err := sql.Open("sqlite", path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Each query of the document returns rows, except those that must return none.
func TestQueriesInTheDocumentAnswer(t *testing.T) {
	t.Parallel()
	db := audited(t)
	queries := regexp.MustCompile("(?ms)^```sql\n(.*?)^```$").FindAllStringSubmatch(readDocument(t), -1)
	if len(queries) < 10 {
		t.Fatalf("%d queries found", len(queries))
	}
	for i, q := range queries {
		lines := answer(t, db, q[1])
		if none := strings.HasPrefix(q[1], "-- no rows"); none != (len(lines) == 0) {
			t.Errorf("query %d returns %d rows", i+1, len(lines))
		}
		for _, line := range lines {
			if strings.Contains(q[1], "'ada'") && strings.Contains(line, "nothing to do with it") {
				t.Errorf("query %d shows another user's event: %s", i+1, line)
			}
		}
	}
}

// The view history shows every event, and the view context shows one summary and the remaining
// events.
func TestViewsShowWhatHappenedAndWhatIsSeen(t *testing.T) {
	t.Parallel()
	db := audited(t)
	for query, want := range map[string][]string{
		"SELECT seq, coalesce(text, calls, responses, record_id) FROM history WHERE user = 'ada'": {
			"1|Where is my parcel?", `2|track{"for":"c1"}`, `3|track{"result":"in Kassel"}`, "4|In Kassel.", "5|Thanks", "6|Welcome.", "7|r1", "8|r2", "9|Bye", "10|Bye!"},
		"SELECT seq, author, text FROM context WHERE user = 'ada'": {
			"0|summary|summary r2", "9|user|Bye", "10|desk|Bye!"},
		"SELECT seq, author, text FROM context WHERE user = 'bob'":                                              {"1|user|nothing to do with it"},
		"SELECT record_id, kind, trigger, covers, covered, absorbs, absorbed, original_tokens FROM compactions": {"r1|summary|invocations|4|4|0|1|200", "r2|checkpoint|checkpoint|2|2|1|0|200"},
		"SELECT record_id, coalesce(focus, '-'), coalesce(note, '-') FROM compactions":                          {"r1|-|-", "r2|the parcel|delivered"},
		"SELECT seq, covered_by FROM history WHERE user = 'ada' AND covered_by IS NOT NULL":                     {"1|r1", "2|r1", "3|r1", "4|r1", "5|r2", "6|r2", "7|r2"},
		"SELECT contested, last_user, last_agent FROM sessions WHERE user = 'ada'":                              {"0|9|10"},
		"SELECT seq, unit FROM events WHERE unit IS NOT NULL":                                                   {"2|2", "3|2"},
	} {
		if got := answer(t, db, query); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\n got %q\nwant %q", query, got, want)
		}
	}
}

// A file of the version before has no such columns, and shows the focus and the note of its checkpoints as soon as it is opened for writing.
func TestAnOlderFileShowsTheFocusOfItsCheckpoints(t *testing.T) {
	t.Parallel()
	var path string
	if err := audited(t).QueryRow("SELECT file FROM pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	run(testkit.FirstCompactions(t), "PRAGMA user_version = 5")(t, path)
	open(t, path)
	db, err := sql.Open("sqlite", path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := []string{"r1|-|-", "r2|the parcel|delivered"}
	if got := answer(t, db, "SELECT record_id, coalesce(focus, '-'), coalesce(note, '-') FROM compactions"); !slices.Equal(got, want) {
		t.Errorf("the view shows %q, want %q", got, want)
	}
}

// The document names every column of every table and view.
func TestTheDocumentNamesEveryColumn(t *testing.T) {
	t.Parallel()
	db, document := audited(t), readDocument(t)
	objects := answer(t, db, "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'")
	if len(objects) != 25 {
		t.Errorf("tables and views: %v", objects)
	}
	for _, object := range objects {
		name, kind, _ := strings.Cut(object, "|")
		names := []string{name}
		if kind == "table" && !slices.Contains([]string{"search_data", "search_idx", "search_docsize", "search_config"}, name) { // FTS5's own
			names = append(names, answer(t, db, "SELECT name FROM pragma_table_info('"+name+"')")...)
		}
		for _, n := range names {
			if !strings.Contains(document, "`"+n+"`") {
				t.Errorf("%s: the document does not name `%s`", name, n)
			}
		}
	}
}

func readDocument(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answer returns the rows of a query in the format of the sqlite3 shell.
func answer(t *testing.T, db *sql.DB, query string) (lines []string) {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		fields := make([]string, len(columns))
		for i, v := range values {
			fields[i] = v.String
		}
		lines = append(lines, strings.Join(fields, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return lines
}
