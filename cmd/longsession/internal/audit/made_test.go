package audit_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/compaction"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
)

const (
	app  = "shop"
	user = "ada"
)

// said is a support chat of so many turns, each with a tool call.
func said(turns int) []*session.Event {
	h := &ct.History{}
	for n := range turns {
		id := fmt.Sprintf("i%d", n)
		call := fmt.Sprintf("c%d", n)
		h.User(id, fmt.Sprintf("Where is parcel %d? I ordered it on 2026-03-%02d and paid %d.50 EUR for it, and nobody has told me anything since then.", 1000+n, n+1, 20+n)).
			Call(id, "desk", "track", call).Response(id, "desk", "track", "in Kassel, shelf "+fmt.Sprint(n), call).
			Agent(id, "desk", fmt.Sprintf("Parcel %d is in Kassel, on shelf %d. It will be with you on Friday, between nine and eleven in the morning.", 1000+n, n))
	}
	return h.Events
}

// writing opens a file for writing until the end of the test, unless it is closed before.
func writing(t *testing.T, path string) *persistence.SQLiteSessionService {
	t.Helper()
	s, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// create makes a session and appends events through a service.
func create(t *testing.T, s session.Service, user, id string, events ...*session.Event) session.Session {
	t.Helper()
	resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if err := s.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	return resp.Session
}

// compacting wraps a file as an app does, with summaries that need no model.
func compacting(t *testing.T, inner session.Service) *compaction.CompactionSessionService {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaryTokens = summarizer.Extractive{}, true, 60
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := svc.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return svc
}

// made returns the path of a file in which an app has compacted a session "order-1" of so many
// turns.
func made(t *testing.T, turns int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := writing(t, path)
	create(t, compacting(t, s), user, "order-1", said(turns)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// built is made for a history with records of its own.
func built(t *testing.T, h *ct.History) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := writing(t, path)
	create(t, s, user, "order-1", h.Events...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs SQL on a file, which may do what persistence never does.
func run(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func open(t *testing.T, path string) *audit.File {
	t.Helper()
	f, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func find(t *testing.T, f *audit.File, name string) *audit.Session {
	t.Helper()
	s, err := f.Find(t.Context(), name, audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func bytesOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// text is an event of the user at a time of its own.
func text(id, said string) *session.Event {
	ev := session.NewEventWithContext(context.Background(), "inv-"+id)
	ev.ID, ev.Author, ev.Timestamp = id, "user", histories.Epoch.Add(time.Hour)
	ev.Content = genai.NewContentFromText(said, genai.RoleUser)
	return ev
}
