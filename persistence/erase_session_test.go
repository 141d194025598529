package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// large stores a session of so many events with the secret, indexes it, and stores a result of a tool.
func large(t testing.TB, s *persistence.SQLiteSessionService, id string, events int) {
	t.Helper()
	sess := create(t, s, id)
	for n := range events {
		ev := text(fmt.Sprint(id, "-", n), fmt.Sprint("message ", n, " has ", secret))
		ev.Actions.StateDelta = map[string]any{"word": secret}
		appendTo(t, s, sess, ev)
	}
	if _, err := s.SearchText(t.Context(), request(id), index.Query{Text: "message"}); err != nil {
		t.Fatal(err)
	}
}

// leftovers are rows of sessions that do not exist.
const leftovers = `SELECT (SELECT count(*) FROM pragma_foreign_key_check) + (SELECT count(*) FROM erasing)
	+ (SELECT count(*) FROM search_docsize WHERE id NOT IN (SELECT key FROM events))`

func TestALargeSessionIsDeletedWithoutATrace(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, persistence.WithSynchronousNormal())
	large(t, s, "gone", 700)
	large(t, s, "kept", 10)
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "kept"}); err != nil {
		t.Fatal(err)
	}
	if len(secrets(t, path)) == 0 {
		t.Fatal("the secret is not in the file before the deletion, so the test proves nothing")
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "gone"}); err != nil {
		t.Fatal(err)
	}
	if found := secrets(t, path); len(found) > 0 {
		t.Errorf("after the deletion: %v", found)
	}
	for query, want := range map[string]int{
		leftovers:                              0,
		"SELECT count(*) FROM events":          0,
		"SELECT count(*) FROM search_docsize":  0,
		"SELECT count(*) FROM search_sessions": 0,
		"SELECT count(*) FROM search_turns":    0,
		"SELECT count(*) FROM search_episodes": 0,
		"SELECT count(*) FROM session_state":   0,
		"SELECT count(*) FROM invocations":     0,
		"SELECT count(*) FROM calls":           0,
	} {
		if got := number(t, path, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	if _, err := s.Get(t.Context(), request("gone")); !adk.IsNotFound(err) {
		t.Errorf("the deleted session: %v", err)
	}
	// Foreign keys are back on: a small session takes its rows with it.
	large(t, s, "gone", 3)
	if got := found(t, s, "gone", "message"); len(got) != 3 {
		t.Errorf("the new session has %v", got)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "gone"}); err != nil {
		t.Fatal(err)
	}
	if n := number(t, path, leftovers); n != 0 {
		t.Errorf("%d rows are left of a small session", n)
	}
}

// cutOff leaves a file as a process leaves it that dies in a deletion.
func cutOff(t *testing.T, path string) {
	t.Helper()
	run("PRAGMA foreign_keys = OFF; INSERT INTO erasing (session) SELECT key FROM sessions WHERE id = 'gone'; DELETE FROM sessions WHERE id = 'gone'")(t, path)
}

func TestADeletionThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"by the next opening", "by the next deletion"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path, persistence.WithSynchronousNormal())
			large(t, s, "gone", 300)
			if how == "by the next opening" {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			cutOff(t, path)
			reading := open(t, path, persistence.WithReadOnly())
			if listed, err := reading.List(t.Context(), &session.ListRequest{AppName: app}); err != nil || len(listed.Sessions) != 0 {
				t.Errorf("%d sessions are listed: %v", len(listed.Sessions), err)
			}
			for _, view := range []string{"history", "context", "compactions"} {
				if n := number(t, path, "SELECT count(*) FROM "+view); n != 0 {
					t.Errorf("view %s shows %d rows", view, n)
				}
			}
			if how == "by the next opening" {
				s = open(t, path)
			}
			again := create(t, s, "gone") // at once, perhaps while the rows of the old one are erased
			appendTo(t, s, again, text("gone-1", "a new message"))
			if got := get(t, s, "gone").Events().Len(); got != 1 {
				t.Errorf("the new session has %d events", got)
			}
			if how == "by the next deletion" {
				if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "another"}); err != nil {
					t.Fatal(err)
				}
			}
			for range 1000 { // the opening erases in the background
				if number(t, path, leftovers) == 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if n := number(t, path, leftovers); n != 0 {
				t.Errorf("%d rows are left", n)
			}
			if got := found(t, s, "gone", "message"); len(got) != 1 {
				t.Errorf("the new session has %v", got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if found := secrets(t, path); len(found) > 0 {
				t.Errorf("after Close: %v", found)
			}
		})
	}
}

// Others write between the portions of a deletion.
func TestOthersWriteDuringADeletion(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, persistence.WithSynchronousNormal())
	large(t, s, "gone", 1500)
	sess := create(t, s, "s")
	deleted := make(chan error, 1)
	go func() {
		deleted <- s.Delete(context.Background(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "gone"})
	}()
	between := 0
	for n := 0; ; n++ {
		appendTo(t, s, sess, text(fmt.Sprint(n), strings.Repeat("x", 10)))
		if left := number(t, path, "SELECT count(*) FROM events WHERE session = 1"); left > 0 && left < 1500 {
			between++
		}
		select {
		case err := <-deleted:
			if err != nil {
				t.Error(err)
			}
			if between == 0 {
				t.Error("no append came between two portions")
			}
			return
		default:
		}
	}
}

func TestACanceledDeletionIsFinishedInTheBackground(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, persistence.WithSynchronousNormal())
	large(t, s, "gone", 600)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for number(t, path, "SELECT count(*) FROM erasing") == 0 {
		}
		cancel()
	}()
	err := s.Delete(ctx, &session.DeleteRequest{AppName: app, UserID: user, SessionID: "gone"})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), request("gone")); !adk.IsNotFound(err) {
		t.Errorf("the deleted session: %v", err)
	}
	for range 1000 {
		if number(t, path, leftovers) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d rows are left", number(t, path, leftovers))
}
