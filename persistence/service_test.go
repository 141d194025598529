package persistence_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
)

// Events are in the order of appends. ADK's database service sorts by time.
func TestOrderIsThatOfAppendsWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	want := []string{"now", "tie", "early", "zero", "far"}
	now := time.Now()
	for i, at := range []time.Time{now, now, now.Add(-time.Hour), {}, now.AddDate(20000, 0, 0)} {
		ev := text(want[i], "")
		ev.Timestamp = at
		appendTo(t, s, sess, ev)
	}
	if got := ids(get(t, s, "s")); !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if got := ids(sess); !slices.Equal(got, want) {
		t.Errorf("the handle has %v, want %v", got, want)
	}
}

// After keeps events that are not older, and NumRecentEvents keeps the newest.
func TestFiltersCountByOrderAndCompareByTime(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, offset := range []int{0, 5, 2, 9} {
		ev := text(string(rune('a'+i)), "")
		ev.Timestamp = start.Add(time.Duration(offset))
		appendTo(t, s, sess, ev)
	}
	for _, r := range []struct {
		recent int
		after  time.Time
		want   []string
	}{
		{0, time.Time{}, []string{"a", "b", "c", "d"}},
		{2, time.Time{}, []string{"c", "d"}},
		{9, time.Time{}, []string{"a", "b", "c", "d"}},
		{0, start.Add(5), []string{"b", "d"}},
		{1, start.Add(1), []string{"d"}},
		{0, start.Add(10), nil},
		{0, start.AddDate(30000, 0, 0), nil},
	} {
		resp, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "s", NumRecentEvents: r.recent, After: r.after})
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(resp.Session); !slices.Equal(got, r.want) {
			t.Errorf("newest %d after %v: %v, want %v", r.recent, r.after, got, r.want)
		}
	}
}

func TestAnEventIDIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("a", "first"))
	again := text("a", "second")
	again.Actions.StateDelta = map[string]any{"k": "v", "app:k": "v", "user:k": "v"}
	if err := s.AppendEvent(t.Context(), sess, again); !errors.Is(err, persistence.ErrEventExists) {
		t.Fatalf("error %v", err)
	}
	appendTo(t, s, create(t, s, "another"), text("a", "elsewhere"))
	for name, sess := range map[string]session.Session{"handle": sess, "store": get(t, s, "s")} {
		if sess.Events().Len() != 1 || len(maps.Collect(sess.State().All())) != 0 || sess.Events().At(0).Content.Parts[0].Text != "first" {
			t.Errorf("the %s has %d events and state %v", name, sess.Events().Len(), maps.Collect(sess.State().All()))
		}
	}
}

// Two events without IDs get two different IDs.
func TestEventsWithoutIDGetOne(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("", "one"), text("", "two"))
	got := ids(get(t, s, "s"))
	if len(got) != 2 || got[0] == "" || got[0] == got[1] || !slices.Equal(got, ids(sess)) {
		t.Errorf("stored as %q, in the handle %q", got, ids(sess))
	}
}

// Each handle sees its own appends, and storage has all of them.
func TestHandlesNeverBecomeStale(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, other := open(t, path), open(t, path)
	a := create(t, s, "s")
	b, c := get(t, s, "s"), get(t, other, "s")
	appendTo(t, s, a, text("1", ""))
	appendTo(t, s, b, text("2", ""))
	appendTo(t, other, c, text("3", ""))
	appendTo(t, s, a, text("4", ""))
	if got := ids(get(t, other, "s")); !slices.Equal(got, []string{"1", "2", "3", "4"}) {
		t.Errorf("stored: %v", got)
	}
	if got := ids(a); !slices.Equal(got, []string{"1", "4"}) {
		t.Errorf("the first handle has %v", got)
	}
}

func TestStateMergesByKeyAcrossHandles(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	delta := func(id string, delta map[string]any) *session.Event {
		ev := text(id, "")
		ev.Actions.StateDelta = delta
		return ev
	}
	a := create(t, s, "s")
	b := get(t, s, "s")
	appendTo(t, s, a, delta("1", map[string]any{"x": 1.0, "app:x": "shared", "temp:x": true, "gone": "v"}))
	appendTo(t, s, b, delta("2", map[string]any{"y": []any{"list"}, "user:x": "mine", "gone": nil}))
	want := map[string]any{"x": 1.0, "y": []any{"list"}, "app:x": "shared", "user:x": "mine", "gone": nil}
	if diff := cmp.Diff(want, maps.Collect(get(t, s, "s").State().All())); diff != "" {
		t.Errorf("state:\n%s", diff)
	}
	if v, err := a.State().Get("temp:x"); v != true || err != nil {
		t.Errorf("the handle lost its temporary state: %v, %v", v, err)
	}
	if _, err := a.State().Get("y"); !errors.Is(err, session.ErrStateKeyNotExist) {
		t.Errorf("the handle sees state of another handle: %v", err)
	}
	if _, ok := get(t, s, "s").Events().At(0).Actions.StateDelta["temp:x"]; ok {
		t.Error("temporary state is stored in the event")
	}
}

// Only a handle of this service identifies a stored session.
func TestForeignSessionsAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	create(t, s, "s")
	memory := session.InMemoryService()
	if err := s.AppendEvent(t.Context(), create(t, memory, "s"), text("a", "")); err == nil {
		t.Error("a session of the in-memory service was accepted")
	}
	elsewhere := open(t, newPath(t))
	if err := s.AppendEvent(t.Context(), create(t, elsewhere, "only there"), text("a", "")); !adk.IsNotFound(err) {
		t.Errorf("a session of another file: %v", err)
	}
	if n := get(t, s, "s").Events().Len(); n != 0 {
		t.Errorf("%d events stored", n)
	}
}

// Deleting removes every row, and an old handle cannot write to a session re-created under the same
// ID.
func TestDeleteLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	old := create(t, s, "s")
	ev := text("a", "")
	ev.Actions.StateDelta = map[string]any{"k": "v", "user:k": "v"}
	appendTo(t, s, old, ev)
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions", "events", "session_state"} {
		if n := number(t, path, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%d rows left in %s", n, table)
		}
	}
	if n := number(t, path, "SELECT count(*) FROM user_state"); n != 1 {
		t.Errorf("%d rows of user state, want 1: it outlives the session", n)
	}
	create(t, s, "s")
	if err := s.AppendEvent(t.Context(), old, text("late", "")); !adk.IsNotFound(err) {
		t.Errorf("append to the deleted session: %v", err)
	}
	if n := get(t, s, "s").Events().Len(); n != 0 {
		t.Errorf("the successor has %d events", n)
	}
}

func TestCreateRefusesAnExistingSession(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	create(t, s, "s")
	_, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: "s", State: map[string]any{"app:k": "changed"}})
	if !errors.Is(err, persistence.ErrSessionExists) {
		t.Errorf("error %v", err)
	}
	if _, err := get(t, s, "s").State().Get("app:k"); !errors.Is(err, session.ErrStateKeyNotExist) {
		t.Errorf("the refused session left state: %v", err)
	}
}

// number runs a query directly on the file.
func number(t testing.TB, path, query string, args ...any) int {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Events are decoded concurrently, and their order stays.
func TestManyEventsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:")
	sess := create(t, s, "s")
	for n := range 500 {
		appendTo(t, s, sess, typical(n))
	}
	for _, recent := range []int{0, 64, 128, 129, 499} {
		resp, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "s", NumRecentEvents: recent})
		if err != nil {
			t.Fatal(err)
		}
		want := ids(sess)
		if recent > 0 {
			want = want[500-recent:]
		}
		if !slices.Equal(ids(resp.Session), want) {
			t.Errorf("the newest %d are out of order", recent)
		}
	}
}
