package databases_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

// TestOddSessionsMoveToPostgreSQLAndBack: names that a statement or a shell would take for something else, one ID under two
// users, sessions without events, texts and numbers at their limits, and events of the same time.
func TestOddSessionsMoveToPostgreSQLAndBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.db")
	stored, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	type name struct{ app, user, id string }
	names := []name{
		{"app", "ada", "same"}, {"app", "bob", "same"}, {"other", "ada", "same"},
		{"app", "ada", `it's "quoted" \ %s $1 ?`}, {"app", "ada", "a/b/../c"}, {"app", "ada", "--dsn"},
		{"app", "o'neil; DROP TABLE events", "ünï 日本 👋"}, {"app", "ada", strings.Repeat("long", 60)},
		{"app", "ada", " "}, {"app", "ada", "a\nb\tc"},
	}
	same := time.Now().UTC().Truncate(time.Microsecond)
	for i, n := range names {
		made, err := stored.Create(t.Context(), &session.CreateRequest{AppName: n.app, UserID: n.user, SessionID: n.id, State: map[string]any{
			"large": json.Number("9007199254740993"), "small": 1e-300, "negative zero": 0.0, "nested": map[string]any{"a": []any{nil, true, "x"}}, "": "no key",
			"user:of": n.user, "app:of": n.app,
		}})
		if err != nil {
			t.Fatalf("%q: %v", n, err)
		}
		if i%3 == 2 {
			continue // no events
		}
		for k, text := range []string{"", " ", "a\u2028b\u0001\x7f", "😀" + strings.Repeat("é", 70_000), `{"json": "\u0041"}`, "<script>&amp;"} {
			ev := session.NewEventWithContext(t.Context(), "inv")
			ev.ID, ev.Author, ev.Timestamp = ev.ID+n.user, "user", same
			ev.Content = genai.NewContentFromText(text, "user")
			if k%2 == 1 {
				ev.Author = "agent"
				ev.Content = &genai.Content{Role: "model", Parts: []*genai.Part{
					{Text: text, Thought: true, ThoughtSignature: []byte{0, 255, 1}},
					{FunctionCall: &genai.FunctionCall{ID: "c", Name: "f", Args: map[string]any{"n": 1e308, "s": text}}},
					{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte{0, 1, 2}}},
				}}
			}
			ev.CustomMetadata = map[string]any{"k": text, "n": 0.1}
			ev.Actions.StateDelta = map[string]any{"turn": k}
			if err := stored.AppendEvent(t.Context(), made.Session, ev); err != nil {
				t.Fatalf("%q: %v", n, err)
			}
		}
	}
	whole := func(service session.Service, n name) string {
		resp, err := service.Get(t.Context(), &session.GetRequest{AppName: n.app, UserID: n.user, SessionID: n.id})
		if err != nil {
			t.Errorf("%q: %v", n, err)
			return ""
		}
		state := map[string]any{}
		for k, v := range resp.Session.State().All() {
			state[k] = v
		}
		var events []session.Event
		for ev := range resp.Session.Events().All() {
			one := *ev
			one.Timestamp = time.Time{} // a copy moves events of the same time apart, so that their order stays
			events = append(events, one)
		}
		text, err := json.Marshal([]any{state, events})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := map[name]string{}
	for _, n := range names {
		want[n] = whole(stored, n)
	}
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}

	s := newStore(t, &postgreSQL)
	code, out, errs := ran(t, "export", path, "--dsn", s.dsn())
	if code != 0 {
		t.Fatalf("export: exit code %d\n%s%s", code, out, errs)
	}
	back := filepath.Join(t.TempDir(), "back.db")
	if code, out, errs = ran(t, "import", back, "--dsn", s.dsn()); code != 0 {
		t.Fatalf("import: exit code %d\n%s%s", code, out, errs)
	}
	returned := opened(t, back)
	for _, n := range names {
		if got := whole(returned, n); got != want[n] {
			t.Errorf("%q: what came back is not what went:\n%.600s\nwant\n%.600s", n, got, want[n])
		}
	}
}
