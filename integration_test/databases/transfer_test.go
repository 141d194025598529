package databases_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
)

// fileWithTurns returns a session file with compacted sessions, which ADK's runner made.
func fileWithTurns(t *testing.T, turns int, ids ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(stored, false, func(cfg *compaction.Config) { cfg.Synchronous = true })
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		_, err := stored.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: id, State: map[string]any{"began": id, "user:name": "Ada", "app:theme": "dark"}})
		if err != nil {
			t.Fatal(err)
		}
		for turn := range turns {
			if err := a.take(t.Context(), id, turn); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.compacting.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func (s *store) dsn() string { return s.engine.dsn(s.dir, s.name, s.engine.adminUser) }

// openBoth opens a file and the database of a store, for a copy in either direction.
func openBoth(t *testing.T, path string, s *store) (file, database transfer.Store) {
	t.Helper()
	file, err := transfer.CreateFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	database, err = transfer.OpenDatabase(t.Context(), s.dsn(), true, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, store := range []transfer.Store{file, database} {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return file, database
}

// copyAll copies every session and returns the results. A finding is an error of the test.
func copyAll(t *testing.T, from, to transfer.Store, o transfer.Options) (results []*transfer.Result) {
	t.Helper()
	names, err := from.Choose(t.Context(), transfer.Which{})
	if err != nil {
		t.Fatal(err)
	}
	if err := transfer.Check(t.Context(), from, to, names, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		r, err := transfer.Copy(t.Context(), from, to, name, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range r.Findings {
			t.Errorf("session %s: %s", name, found)
		}
		results = append(results, r)
	}
	return results
}

// shownBy returns what a model sees of a session in a service, and its state.
func shownBy(t *testing.T, service session.Service, id string) (view []string, state map[string]any) {
	t.Helper()
	resp, err := service.Get(context.WithoutCancel(t.Context()), &session.GetRequest{AppName: appName, UserID: userID, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	for ev := range filtered.NewFilteredSession(resp.Session).Events().All() {
		text := ev.ID + " " + ev.Author + ":"
		if ev.Content != nil {
			for _, p := range ev.Content.Parts {
				text += " " + p.Text
			}
		}
		view = append(view, text)
	}
	state = map[string]any{}
	for key, value := range resp.Session.State().All() {
		state[key] = fmt.Sprint(value)
	}
	return view, state
}

func opened(t *testing.T, path string) *persistence.SQLiteSessionService {
	t.Helper()
	stored, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stored.Close() })
	return stored
}

func sameState(a, b map[string]any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// A session that goes from a file to PostgreSQL and back is the same session: for ADK's service, for the view of a model,
// and for the runner that goes on with it.
func TestSessionsMoveToPostgreSQLAndBack(t *testing.T) {
	s := newStore(t, &postgreSQL)
	path := fileWithTurns(t, 12, "one", "two")
	file, database := openBoth(t, path, s)
	for _, r := range copyAll(t, file, database, transfer.Options{}) {
		if r.Copied != r.Events || r.Records == 0 || r.Shown == 0 || r.Shown >= r.Events {
			t.Errorf("session %s: %d of %d events copied, %d of them records, %d shown", r.Name, r.Copied, r.Events, r.Records, r.Shown)
		}
	}
	before := opened(t, path)
	for _, id := range []string{"one", "two"} {
		want, wantState := shownBy(t, before, id)
		got, gotState := shownBy(t, s.sessions, id)
		if !slices.Equal(got, want) {
			t.Errorf("session %s: the view is\n%s\nwant\n%s", id, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if !sameState(gotState, wantState) {
			t.Errorf("session %s: the state is %v, want %v", id, gotState, wantState)
		}
	}
	if r := copyAll(t, file, database, transfer.Options{}); r[0].Copied != 0 || r[1].Copied != 0 {
		t.Errorf("a second copy stored %d and %d events", r[0].Copied, r[1].Copied)
	}

	// The session goes on in the database, and comes back to the file.
	a, err := newApp(s.sessions, false, func(cfg *compaction.Config) { cfg.Synchronous = true })
	if err != nil {
		t.Fatal(err)
	}
	for turn := 12; turn < 20; turn++ {
		if err := a.take(t.Context(), "one", turn); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.compacting.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := copyAll(t, database, file, transfer.Options{})
	if r[0].Copied < 16 || r[1].Copied != 0 {
		t.Errorf("%d and %d events came back, want at least 16 and none", r[0].Copied, r[1].Copied)
	}
	back := filepath.Join(t.TempDir(), "back.db")
	fresh, err := transfer.CreateFile(back, true)
	if err != nil {
		t.Fatal(err)
	}
	copyAll(t, database, fresh, transfer.Options{})
	if err := fresh.Close(); err != nil {
		t.Fatal(err)
	}
	want, wantState := shownBy(t, s.sessions, "one")
	for _, stored := range []*persistence.SQLiteSessionService{before, opened(t, back)} {
		if got, gotState := shownBy(t, stored, "one"); !slices.Equal(got, want) || !sameState(gotState, wantState) {
			t.Errorf("the view is\n%s\nwith %v, want\n%s\nwith %v", strings.Join(got, "\n"), gotState, strings.Join(want, "\n"), wantState)
		}
	}
}

// everyField returns events with fields that are easily lost.
func everyField() []*session.Event {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	call := &session.Event{ID: "e1", InvocationID: "i1", Author: "assistant", Branch: "assistant", Timestamp: at, LongRunningToolIDs: []string{"c1"}}
	call.Content = &genai.Content{Role: "model", Parts: []*genai.Part{
		{Text: "Ünïcode <&> \u2028 \\u0000 \U0001F600", Thought: true, ThoughtSignature: []byte{0, 1, 255}},
		{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "look", Args: map[string]any{"n": 1e21, "deep": []any{nil, map[string]any{}, true}}}},
		{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte{0, 200}}},
	}}
	call.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 12}
	call.Actions = session.EventActions{StateDelta: map[string]any{"k": "old"}, ArtifactDelta: map[string]int64{"a.txt": 2}, SkipSummarization: true, TransferToAgent: "other", Escalate: true}
	call.FinishReason, call.ModelVersion = genai.FinishReasonStop, "m-1"
	answer := &session.Event{ID: "e2", InvocationID: "i1", Author: "assistant", Timestamp: at.Add(-time.Hour)} // a clock that was put back
	answer.Content = &genai.Content{Role: "user", Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "c1", Name: "look", Response: map[string]any{"x": 0.1}}}}}
	failed := &session.Event{ID: "e3", InvocationID: "i2", Author: "assistant", Timestamp: at}
	failed.ErrorCode, failed.ErrorMessage, failed.Interrupted, failed.TurnComplete = "500", "no\nanswer", true, true
	failed.CustomMetadata = map[string]any{"a2a:x": "y", "n": 12345678901234567}
	failed.CitationMetadata = &genai.CitationMetadata{Citations: []*genai.Citation{{Title: "A book", StartIndex: 3}}}
	failed.GroundingMetadata = &genai.GroundingMetadata{WebSearchQueries: []string{"a book"}}
	adk.SetScope(answer, "c1")
	for _, c := range adk.FurtherColumns { // those of ADK v2
		text := map[string]string{"Routes": `["yes", "no"]`, "Output": `{"answer": "<42>", "n": 1e21}`, "NodeInfo": `{"path": "flow/ask@1", "outputFor": ["flow"]}`,
			"RequestedInput": `{"interruptId": "i", "message": "Really?", "payload": {"n": 0.5}}`}[c.Name]
		if err := json.Unmarshal([]byte(text), c.Of(failed).Addr().Interface()); err != nil {
			panic(fmt.Sprint(c.Name, ": ", err))
		}
	}
	return []*session.Event{call, answer, failed}
}

// A copied row is the one that ADK's service would have stored, and what the tables cannot keep is counted.
func TestCopiedRowsAreThoseOfADK(t *testing.T) {
	s := newStore(t, &postgreSQL)
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored := opened(t, path)
	for _, service := range []session.Service{stored, s.sessions} {
		id := "copied"
		if service == s.sessions {
			id = "appended"
		}
		resp, err := service.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		for i, ev := range everyField() {
			if id == "appended" {
				ev.Timestamp = ev.Timestamp.Add(time.Duration(i) * 2 * time.Hour) // ADK refuses no time, but sorts by it
			}
			if err := service.AppendEvent(t.Context(), resp.Session, ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	file, database := openBoth(t, path, s)
	r, err := transfer.Copy(t.Context(), file, database, transfer.Name{App: appName, User: userID, ID: "copied"}, transfer.Options{})
	if err != nil || len(r.Findings) > 0 {
		t.Fatal(err, r.Findings)
	}
	want := transfer.Losses{
		"times cut to microseconds":                             3,
		"times moved, because the database sorts by time":       2,
		"finish reasons, for which ADK's tables have no column": 1,
		"model versions, for which ADK's tables have no column": 1,
	}
	if fmt.Sprint(r.Losses) != fmt.Sprint(want) {
		t.Errorf("losses %v, want %v", r.Losses, want)
	}
	if got, want := s.rowsOf(t, "copied"), s.rowsOf(t, "appended"); !slices.Equal(got, want) || len(got) != 3 {
		t.Errorf("copied\n%s\nappended\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// They come back to a file, with all digits of their numbers.
	if adk.Major > 1 {
		s.exec(t, `UPDATE events SET output_json = '{"n": 12345678901234567890}' WHERE session_id = 'copied' AND output_json IS NOT NULL`)
	}
	back := filepath.Join(t.TempDir(), "back.db")
	fresh, err := transfer.CreateFile(back, true)
	if err != nil {
		t.Fatal(err)
	}
	copyAll(t, database, fresh, transfer.Options{})
	if err := fresh.Close(); err != nil {
		t.Fatal(err)
	}
	resp, err := opened(t, back).Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "appended"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range everyField() {
		for got := range resp.Session.Events().All() {
			if got.ID != want.ID {
				continue
			}
			if adk.ScopeOf(got) != adk.ScopeOf(want) {
				t.Errorf("event %s came back with the scope %q", got.ID, adk.ScopeOf(got))
			}
			for _, c := range adk.FurtherColumns {
				if got, want := c.Of(got).Interface(), c.Of(want).Interface(); !reflect.DeepEqual(got, want) {
					t.Errorf("%s came back as %+v, want %+v", c.Name, got, want)
				}
			}
		}
	}
}

// rowsOf returns the rows of a session as text, without its ID and the times.
func (s *store) rowsOf(t *testing.T, id string) (rows []string) {
	t.Helper()
	found, err := s.pool(t).QueryContext(t.Context(), `SELECT row_to_json(e)::jsonb - 'session_id' - 'timestamp' FROM events e WHERE session_id = $1 ORDER BY "timestamp"`, id)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var row string
		if err := found.Scan(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// The tables that export --create-tables makes have the columns of those that ADK makes.
func TestCreatedTablesAreThoseOfADK(t *testing.T) {
	s := newStore(t, &postgreSQL)
	s.exec(t, "CREATE SCHEMA made")
	created, err := transfer.OpenDatabase(t.Context(), s.dsn()+" search_path=made", true, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := created.Close(); err != nil {
		t.Fatal(err)
	}
	columns := func(schema string) (text string) {
		t.Helper()
		const query = `SELECT string_agg(concat_ws(' ', table_name, column_name, data_type, datetime_precision, is_nullable), E'\n' ORDER BY table_name, column_name)
			FROM information_schema.columns WHERE table_schema = $1`
		if err := s.pool(t).QueryRowContext(t.Context(), query, schema).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got, want := columns("made"), columns("public"); got != want {
		t.Errorf("made\n%s\nwant\n%s", got, want)
	}
}
