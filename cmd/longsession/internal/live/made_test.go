package live_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/live"
	"github.com/adk-go-ext/longsession/compaction"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
)

const (
	app  = "shop"
	user = "ada"
)

// said is a chat of so many turns, each of four events. Every answer reports its usage.
func said(from, turns int) []*session.Event {
	h := &ct.History{}
	for n := from; n < from+turns; n++ {
		id, call := fmt.Sprintf("i%d", n), fmt.Sprintf("c%d", n)
		h.User(id, fmt.Sprintf("Where is parcel %d? I have waited for it since the beginning of the month.", 1000+n)).
			Call(id, "desk", "track", call).Response(id, "desk", "track", fmt.Sprintf("shelf %d", n), call).
			Agent(id, "desk", fmt.Sprintf("Parcel %d is in Kassel, on shelf %d, and will be with you on Friday.", 1000+n, n))
		h.Last().ModelVersion = "gemini-2.5-flash"
		h.Last().UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(300 + 70*(n%12)), CandidatesTokenCount: 20}
	}
	for i, ev := range h.Events {
		ev.ID = fmt.Sprintf("t%d-%d", from, i)
	}
	return h.Events
}

// written is an app that writes to a file, with summaries that need no model.
type written struct {
	t      *testing.T
	path   string
	stored *persistence.SQLiteSessionService
	svc    *compaction.CompactionSessionService
}

func write(t *testing.T, path string) *written {
	t.Helper()
	stored, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaryTokens, cfg.AgentModel = summarizer.Extractive{}, true, 60, "gemini-2.5-flash"
	svc, err := compaction.NewCompactionService(stored, cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &written{t, path, stored, svc}
	t.Cleanup(w.close)
	return w
}

func (w *written) close() {
	if w.stored == nil {
		return
	}
	if err := w.svc.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
	if err := w.stored.Close(); err != nil {
		w.t.Error(err)
	}
	w.stored = nil
}

func (w *written) session(id string, events ...*session.Event) session.Session {
	w.t.Helper()
	resp, err := w.svc.Create(w.t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	w.append(resp.Session, events...)
	return resp.Session
}

func (w *written) append(to session.Session, events ...*session.Event) {
	w.t.Helper()
	for _, ev := range events {
		if err := w.svc.AppendEvent(w.t.Context(), to, ev); err != nil {
			w.t.Fatal(err)
		}
	}
}

// file returns a file with a session "order-1" of so many turns.
func file(t *testing.T, turns int) string {
	t.Helper()
	w := write(t, filepath.Join(t.TempDir(), "sessions.db"))
	w.session("order-1", said(0, turns)...)
	w.close()
	return w.path
}

func serve(t *testing.T, cfg live.Config) *live.Handler {
	t.Helper()
	h, err := live.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// answer is what the handler answers.
type answer struct {
	code   int
	header http.Header
	body   string
}

func ask(t *testing.T, h http.Handler, target string, more ...func(*http.Request)) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	r.Host = "127.0.0.1:8457"
	for _, change := range more {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{w.Code, w.Header(), string(body)}
}

// page is the address of a page of the session "order-1".
func page(name string, more ...string) string {
	q := url.Values{"app": {app}, "user": {user}, "id": {"order-1"}}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return "/" + name + "?" + q.Encode()
}

// has fails the test for each text that a page lacks.
func (a answer) has(t *testing.T, texts ...string) {
	t.Helper()
	if a.code != http.StatusOK {
		t.Fatalf("the answer is %d: %s", a.code, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

func (a answer) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

// longFile is a file without summaries.
func longFile(t *testing.T, turns int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := stored.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: "order-1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range said(0, turns) {
		if err := stored.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
