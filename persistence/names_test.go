package persistence_test

import (
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// oddNames would break SQL, or be truncated, if they were pasted into a statement.
var oddNames = []string{
	"plain", "Plain", "'", `"`, "';DROP TABLE events;--", "%", "_", "?1", "$.x", "a\x00b", "a\x00c", "a", "\n", " ", "é", "e\u0301", "🎈", "\xff\xfe",
	strings.Repeat("long", 2500), strings.Repeat("long", 2500) + "er",
}

// Every odd name works as an app, a user and a session, with its own data.
func TestOddNamesAreNamesLikeOthers(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	key := func(app, user, id string) *session.GetRequest {
		return &session.GetRequest{AppName: app, UserID: user, SessionID: id}
	}
	var keys []*session.GetRequest
	for _, name := range oddNames {
		keys = append(keys, key(name, "u", "s"), key("a", name, "s"), key("a", "u", name))
	}
	for _, k := range keys {
		resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: k.AppName, UserID: k.UserID, SessionID: k.SessionID, State: map[string]any{k.SessionID: k.UserID}})
		if err != nil {
			if k.AppName == "a" && k.UserID == "u" {
				continue // the same key in another way
			}
			t.Fatalf("create %q: %v", k.SessionID, err)
		}
		ev := text(k.AppName+"/"+k.UserID+"/"+k.SessionID, "")
		ev.Branch, ev.InvocationID, ev.Author = k.SessionID, k.UserID, k.AppName
		appendTo(t, s, resp.Session, ev)
	}
	for _, k := range keys {
		resp, err := s.Get(t.Context(), k)
		if err != nil {
			t.Fatalf("get %.40q: %v", k.SessionID, err)
		}
		got := resp.Session
		ev := got.Events().At(0)
		if got.Events().Len() != 1 || ev.ID != k.AppName+"/"+k.UserID+"/"+k.SessionID || ev.Branch != k.SessionID || ev.InvocationID != k.UserID || ev.Author != k.AppName {
			t.Errorf("%.40q holds %d events, the first is %.60q", k.SessionID, got.Events().Len(), ev.ID)
		}
		if got.ID() != k.SessionID || got.AppName() != k.AppName || got.UserID() != k.UserID {
			t.Errorf("%.40q was returned under another name", k.SessionID)
		}
	}
}

// A user cannot list, read or delete another user's sessions.
func TestAUserNeverSeesAnothersSessions(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	for _, name := range oddNames {
		resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: name, SessionID: "shared", State: map[string]any{"user:secret": name}})
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, s, resp.Session, text(name, name))
	}
	for _, name := range oddNames {
		listed, err := s.List(t.Context(), &session.ListRequest{AppName: app, UserID: name})
		if err != nil {
			t.Fatal(err)
		}
		if len(listed.Sessions) != 1 || listed.Sessions[0].UserID() != name || listed.Sessions[0].Events().Len() != 0 {
			t.Errorf("%.40q lists %d sessions", name, len(listed.Sessions))
		}
		resp, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: name, SessionID: "shared"})
		if err != nil {
			t.Fatal(err)
		}
		secret, err := resp.Session.State().Get("user:secret")
		if want := strings.ToValidUTF8(name, "\ufffd"); err != nil || secret != want && !strings.Contains(name, "\xff") || len(ids(resp.Session)) != 1 || ids(resp.Session)[0] != name {
			t.Errorf("%.40q reads %.40q and events %.40q: %v", name, secret, ids(resp.Session), err)
		}
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: "somebody else", SessionID: "shared"}); err != nil {
		t.Fatal(err)
	}
	all, err := s.List(t.Context(), &session.ListRequest{AppName: app})
	if err != nil || len(all.Sessions) != len(oddNames) {
		t.Errorf("%d sessions in all, want %d: %v", len(all.Sessions), len(oddNames), err)
	}
	_, err = s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: "somebody else", SessionID: "shared"})
	if !adk.IsNotFound(err) {
		t.Errorf("somebody else: %v", err)
	}
}

// No part of a path is an option of the driver.
func TestOddPathsNameTheFileTheySay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "a?mode=memory", "a#b", "a%20b", "'q'.db", "é🎈.db", "a&_pragma=foreign_keys(0)", ":memory", "file:x"} {
		path := filepath.Join(t.TempDir(), name)
		s := open(t, path)
		appendTo(t, s, create(t, s, "s"), text("a", ""))
		if found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(found) == 0 || found[0] != path {
			t.Errorf("%q made %q", path, found)
		}
	}
}
