package persistence_test

import (
	"context"
	"path/filepath"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"

	"github.com/adk-go-ext/longsession/persistence"
)

func TestADKsOwnSuitePasses(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(*testing.T) string{
		"file":   newPath,
		"memory": func(*testing.T) string { return ":memory:" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true},
				func(t *testing.T) session.Service { return open(t, path(t)) })
		})
	}
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "sessions.db") }

// open opens a service and closes it when the test ends.
func open(t testing.TB, path string, opts ...persistence.Option) *persistence.SQLiteSessionService {
	t.Helper()
	s, err := persistence.NewSQLiteSessionService(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

const app, user = "app", "user"

func create(t testing.TB, s session.Service, id string) session.Session {
	t.Helper()
	resp, err := s.Create(context.Background(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func get(t testing.TB, s session.Service, id string) session.Session {
	t.Helper()
	resp, err := s.Get(context.Background(), &session.GetRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func appendTo(t testing.TB, s session.Service, to session.Session, events ...*session.Event) {
	t.Helper()
	for _, ev := range events {
		if err := s.AppendEvent(context.Background(), to, ev); err != nil {
			t.Fatal(err)
		}
	}
}

// text returns a text event with the given ID.
func text(id, said string) *session.Event {
	ev := session.NewEventWithContext(context.Background(), "inv-"+id)
	ev.ID, ev.Author = id, "user"
	ev.Content = genai.NewContentFromText(said, genai.RoleUser)
	return ev
}

func ids(sess session.Session) []string {
	var out []string
	for ev := range sess.Events().All() {
		out = append(out, ev.ID)
	}
	return out
}
