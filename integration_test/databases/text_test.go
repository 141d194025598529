package databases_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// TestTextsThatPostgreSQLRefusesAreReplaced, or refused before anything is written. Here they are at the beginning of a text, in
// an author and an ID, which the comparison of the views sees, and in the words of a compaction.
func TestTextsThatPostgreSQLRefusesAreReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		id, author, text string
		state            any
	}{
		"NUL in a text":              {"e", "bot", "a\x00b \x00\x00\x00\x00\x00\x00\x00", nil},
		"NUL in an ID and an author": {"e\x00", "b\x00t", "text", nil},
		"not UTF-8":                  {"e\xff", "b\xc3", "text", nil},
		"NUL in the state":           {"e", "bot", "text", map[string]any{"a\x00": "b\x00"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			stored := opened(t, path)
			resp, err := stored.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: "odd", State: map[string]any{"k": c.state}})
			if err != nil {
				t.Fatal(err)
			}
			h := (&compactiontest.History{}).Turns(2, c.author)
			odd := &session.Event{ID: c.id, InvocationID: "i9", Author: c.author, Timestamp: h.Events[3].Timestamp.Add(time.Second)}
			odd.Content = genai.NewContentFromText(c.text, genai.RoleModel)
			h.Events = append(h.Events, odd)
			events := append(h.Events, h.Record("r1", compactiontest.IDs(h.Events[:2])...))
			for _, ev := range events {
				if err := stored.AppendEvent(t.Context(), resp.Session, ev); err != nil {
					t.Fatal(err)
				}
			}
			s := newStore(t, &postgreSQL)
			code, out, errs := ran(t, "export", path, "--dsn", s.dsn())
			if code != 2 || !strings.Contains(errs, "--replace-nul") || number(t, s.pool(t), "SELECT count(*) FROM sessions") != 0 {
				t.Errorf("exit code %d\n%s%s", code, out, errs)
			}
			for range 2 {
				code, out, errs = ran(t, "export", path, "--dsn", s.dsn(), "--replace-nul")
				if code != 0 || !strings.Contains(out, "events, state and views are the same") || !strings.Contains(out, "replaced by U+FFFD") {
					t.Errorf("exit code %d\n%s%s", code, out, errs)
				}
			}
		})
	}
}

// TestNamesThatPostgreSQLRefusesAreToldFirst: nothing of the other sessions is written, and they can be copied alone.
func TestNamesThatPostgreSQLRefusesAreToldFirst(t *testing.T) {
	for _, user := range []string{"z\x00", "z\xff"} {
		path := fileWithTurns(t, 2, "one")
		if _, err := opened(t, path).Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: user, SessionID: "two"}); err != nil {
			t.Fatal(err)
		}
		s := newStore(t, &postgreSQL)
		code, out, errs := ran(t, "export", path, "--dsn", s.dsn(), "--replace-nul")
		if code != 2 || !strings.Contains(errs, "a name of it has") || number(t, s.pool(t), "SELECT count(*) FROM sessions") != 0 {
			t.Errorf("%q: exit code %d\n%s%s", user, code, out, errs)
		}
		if code, out, errs := ran(t, "export", path, "--dsn", s.dsn(), "--user", userID); code != 0 {
			t.Errorf("%q: exit code %d\n%s%s", user, code, out, errs)
		}
	}
}

// TestNamesOfSessionsCannotCommandATerminal: users of an app may choose their names.
func TestNamesOfSessionsCannotCommandATerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	if _, err := opened(t, path).Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: "a\x1b[2J", SessionID: "one"}); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, &postgreSQL)
	if code, out, errs := ran(t, "export", path, "--dsn", s.dsn()); code != 0 || strings.Contains(out, "\x1b") {
		t.Errorf("exit code %d\n%q\n%s", code, out, errs)
	}
}
