package persistence_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
)

func stepAt(id string, at time.Time) *session.Event {
	ev := &session.Event{ID: id, InvocationID: "i", Author: "user", Timestamp: at}
	ev.Content = genai.NewContentFromText("text of "+id, genai.RoleUser)
	ev.Actions.StateDelta = map[string]any{"count": id}
	return ev
}

func TestImportStoresEventsAsTheyAreAndOnlyTheGivenState(t *testing.T) {
	t.Parallel()
	svc, err := persistence.NewSQLiteSessionService(filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	created, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := persistence.Import(t.Context(), svc, created.Session, []*session.Event{stepAt("e1", at), stepAt("e2", at.Add(-time.Hour))}, map[string]any{"k": "v", "user:n": "m", "temp:x": 1}); err != nil {
		t.Fatal(err)
	}
	if n := created.Session.Events().Len(); n != 0 {
		t.Errorf("the handle has %d events, want none", n)
	}
	resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	events := resp.Session.Events()
	if events.Len() != 2 || events.At(0).ID != "e1" || !events.At(0).Timestamp.Equal(at) || events.At(1).Actions.StateDelta["count"] != "e2" {
		t.Errorf("stored: %v", events)
	}
	state := map[string]any{}
	for key, value := range resp.Session.State().All() {
		state[key] = value
	}
	if len(state) != 2 || state["k"] != "v" || state["user:n"] != "m" {
		t.Errorf("state %v", state)
	}
}

func TestImportStoresAllOrNothing(t *testing.T) {
	t.Parallel()
	svc, err := persistence.NewSQLiteSessionService(filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	created, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	partial := stepAt("p", at)
	partial.Partial = true
	for text, events := range map[string][]*session.Event{
		"already has an event": {stepAt("e1", at), stepAt("e1", at)},
		"is partial":           {stepAt("e1", at), partial},
		"has no ID":            {stepAt("e1", at), stepAt("", at)},
		"is nil":               {stepAt("e1", at), nil},
	} {
		err := persistence.Import(t.Context(), svc, created.Session, events, map[string]any{"k": 1})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	if err := persistence.Import(t.Context(), svc, nil, nil, nil); err == nil {
		t.Error("a nil session was taken")
	}
	foreign, err := session.InMemoryService().Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := persistence.Import(t.Context(), svc, foreign.Session, nil, nil); err == nil || !strings.Contains(err.Error(), "this service") {
		t.Errorf("a foreign session: %v", err)
	}
	resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil || resp.Session.Events().Len() != 0 {
		t.Fatalf("%v, want no events: %v", resp, err)
	}
	if _, err := resp.Session.State().Get("k"); !errors.Is(err, session.ErrStateKeyNotExist) {
		t.Errorf("state was set: %v", err)
	}
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: "a", UserID: "u", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := persistence.Import(t.Context(), svc, created.Session, []*session.Event{stepAt("e1", at)}, nil); !adk.IsNotFound(err) {
		t.Errorf("a deleted session: %v", err)
	}
}
