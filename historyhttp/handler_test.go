package historyhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"google.golang.org/adk/server/adkrest/controllers"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/historyhttp"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// answer is the part of ADK's JSON that the tests look at.
type answer struct {
	ID     string `json:"id"`
	Events []struct {
		ID      string `json:"id"`
		Author  string `json:"author"`
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
	} `json:"events"`
	State map[string]any `json:"state"`
}

func (a answer) ids() []string {
	ids := []string{}
	for _, ev := range a.Events {
		ids = append(ids, ev.ID)
	}
	return ids
}

// compacted returns a service with a session "s/1" of 24 events. The oldest events are summarized.
func compacted(t *testing.T) (*compaction.CompactionSessionService, compaction.SessionRef, []string) {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.ContextWindow = summarizer.Extractive{}, true, 128_000
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sessions.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ref := compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s/1"}
	created, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID, State: map[string]any{"k": "v"}})
	if err != nil {
		t.Fatal(err)
	}
	h := &compactiontest.History{}
	for i := range 12 {
		turn := fmt.Sprintf("i%d", i)
		h.User(turn, strings.Repeat("Please look after parcel number forty-two. ", 20)).Agent(turn, "clerk", strings.Repeat("I shall look after it. ", 20))
	}
	var ids []string
	for _, ev := range h.Events {
		if err := sessions.AppendEvent(t.Context(), created.Session, ev); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ev.ID)
	}
	return sessions, ref, ids
}

func get(t *testing.T, handler http.Handler, target string) (*httptest.ResponseRecorder, answer) {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	var a answer
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
	}
	return w, a
}

const target = "/apps/app/users/u/sessions/s%2F1"

// TestPeopleReadWhatIsStored where ADK's own endpoint over the same service shows the model's view.
func TestPeopleReadWhatIsStored(t *testing.T) {
	t.Parallel()
	sessions, ref, ids := compacted(t)

	raw, err := sessions.Raw(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for ev := range raw.Session.Events().All() {
		if record.Is(ev) {
			records++
		}
	}
	if records == 0 {
		t.Fatal("the history has no record, so this test shows nothing")
	}

	own := controllers.NewSessionsAPIController(sessions)
	view := httptest.NewRecorder()
	own.GetSessionHandler(view, mux.SetURLVars(httptest.NewRequest(http.MethodGet, target, nil), map[string]string{"app_name": "app", "user_id": "u", "session_id": ref.SessionID}))
	var shown answer
	if err := json.Unmarshal(view.Body.Bytes(), &shown); err != nil || len(shown.Events) == 0 || len(shown.Events) >= len(ids) {
		t.Fatalf("ADK's endpoint shows %d of %d events: %v", len(shown.Events), len(ids), err)
	}

	_, full := get(t, historyhttp.NewHandler(sessions), target)
	if got := full.ids(); !slices.Equal(got, ids) {
		t.Errorf("served %v, stored %v", got, ids)
	}
	if full.ID != ref.SessionID || full.State["k"] != "v" || full.Events[0].Author != "user" || !strings.Contains(full.Events[0].Content.Parts[0].Text, "parcel number") {
		t.Errorf("the session is not as it was stored: %+v", full)
	}
}

func TestAPartOfAHistoryCanBeRead(t *testing.T) {
	t.Parallel()
	sessions, ref, ids := compacted(t)
	raw, err := sessions.Raw(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]time.Time{}
	for ev := range raw.Session.Events().All() {
		byID[ev.ID] = ev.Timestamp
	}
	after := url.QueryEscape(byID[ids[20]].Format(time.RFC3339Nano))
	handler := historyhttp.NewHandler(sessions)
	for query, want := range map[string][]string{
		"?numRecentEvents=3":                     ids[21:],
		"?numRecentEvents=1000":                  ids,
		"?after=" + after:                        ids[20:],
		"?after=" + after + "&numRecentEvents=2": ids[22:],
		"?after=2999-01-01T00:00:00Z":            {},
	} {
		if _, a := get(t, handler, target+query); !slices.Equal(a.ids(), want) {
			t.Errorf("%s: served %v, want %v", query, a.ids(), want)
		}
	}
}

func TestRequestsThatCannotBeAnswered(t *testing.T) {
	t.Parallel()
	sessions, _, _ := compacted(t)
	handler := historyhttp.NewHandler(sessions)
	missing := http.StatusNotFound
	if adk.Major == 2 {
		missing = http.StatusInternalServerError // as ADK's own handler answers in v2.2
	}
	for _, test := range []struct {
		method, target, want string
		code                 int
	}{
		{http.MethodGet, "/apps/app/users/u/sessions/other", "other", missing},
		{http.MethodGet, target + "?numRecentEvents=0", `numRecentEvents is "0"`, http.StatusBadRequest},
		{http.MethodGet, target + "?numRecentEvents=many", `numRecentEvents is "many"`, http.StatusBadRequest},
		{http.MethodGet, target + "?after=yesterday", `after is "yesterday"`, http.StatusBadRequest},
		{http.MethodPost, target, "", http.StatusMethodNotAllowed},
		{http.MethodDelete, target, "", http.StatusMethodNotAllowed},
		{http.MethodPatch, target, "", http.StatusMethodNotAllowed},
		{http.MethodGet, "/apps/app/users/u", "", http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(test.method, test.target, nil))
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s: %d %q, want %d with %q", test.method, test.target, w.Code, w.Body, test.code, test.want)
		}
	}
}

func TestSessionsOfAUserAreListed(t *testing.T) {
	t.Parallel()
	sessions, ref, _ := compacted(t)
	w := httptest.NewRecorder()
	historyhttp.NewHandler(sessions).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apps/app/users/u/sessions", nil))
	var list []answer
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 || list[0].ID != ref.SessionID || len(list[0].Events) != 0 {
		t.Errorf("listed %s: %v", w.Body, err)
	}
}
