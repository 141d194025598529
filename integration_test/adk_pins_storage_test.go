package integration_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The tests in the files adk_pins_*_test.go run ADK alone. If one fails, a new release of ADK
// behaves differently from what this module relies on.

func createBare(t *testing.T, service session.Service) session.Session {
	t.Helper()
	resp, err := service.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func getBare(t *testing.T, service session.Service) session.Session {
	t.Helper()
	resp, err := service.Get(t.Context(), getRequest())
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func said(id, author, text string, at time.Time) *session.Event {
	role := genai.Role(genai.RoleModel)
	if author == "user" {
		role = genai.RoleUser
	}
	return &session.Event{
		ID: id, InvocationID: "inv", Author: author, Timestamp: at,
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(text, role)},
	}
}

func idsOf(sess session.Session) []string {
	var ids []string
	for ev := range sess.Events().All() {
		ids = append(ids, ev.ID)
	}
	return ids
}

// Staleness is decided by timestamps, not by versions. So a record with the session's last update
// time makes no handle stale.
func TestPinDatabaseRefusesAStaleHandle(t *testing.T) {
	t.Parallel()
	service := storages.Database(t).Open(t)
	createBare(t, service)
	at := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	first, second := getBare(t, service), getBare(t, service)
	add := func(sess session.Session, ev *session.Event) error { return service.AppendEvent(t.Context(), sess, ev) }
	if err := add(first, said("a", "user", "a", at)); err != nil {
		t.Fatal(err)
	}
	if err := add(second, said("b", "user", "b", at.Add(time.Second))); err == nil || !strings.Contains(err.Error(), "stale session") {
		t.Errorf("an append through a handle that missed an event: error %v, want a stale session", err)
	}

	third := getBare(t, service)
	if got := third.LastUpdateTime(); !got.Equal(at) {
		t.Errorf("the last update time is %v, want the newest event's, %v", got, at)
	}
	record := &session.Event{ID: "record", InvocationID: "none", Author: "user", Timestamp: third.LastUpdateTime(), LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{"k": "v"}}}
	if err := add(third, record); err != nil {
		t.Fatal(err)
	}
	if err := add(first, said("c", "user", "c", at.Add(2*time.Second))); err != nil {
		t.Errorf("an append through the first handle after the record: %v", err)
	}
}

// Events with equal timestamps are returned in reverse order, so neither the order of events nor
// the position of a record is reliable.
func TestPinDatabaseReversesTies(t *testing.T) {
	t.Parallel()
	service := storages.Database(t).Open(t)
	sess := createBare(t, service)
	at := time.Now().Add(time.Hour)
	for i, id := range []string{"a", "b", "c", "d"} {
		if err := service.AppendEvent(t.Context(), sess, said(id, "user", id, at.Add(time.Duration(i/3)*time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := idsOf(getBare(t, service)), []string{"c", "b", "a", "d"}; !slices.Equal(got, want) {
		t.Errorf("events a, b, c of one time and d of a later one come back as %v, want %v", got, want)
	}
}

// Numbers are returned as float64, and times with microseconds.
func TestPinDatabaseChangesMetadataNumbers(t *testing.T) {
	t.Parallel()
	service := storages.Database(t).Open(t)
	sess := createBare(t, service)
	at := time.Date(2030, 1, 1, 0, 0, 0, 123456789, time.UTC)
	ev := said("a", "user", "a", at)
	ev.CustomMetadata = map[string]any{"n": 7, "list": []string{"x"}}
	if err := service.AppendEvent(t.Context(), sess, ev); err != nil {
		t.Fatal(err)
	}
	got := getBare(t, service).Events().At(0)
	if n, ok := got.CustomMetadata["n"].(float64); !ok || n != 7 {
		t.Errorf("the int 7 comes back as %T %v", got.CustomMetadata["n"], got.CustomMetadata["n"])
	}
	if _, ok := got.CustomMetadata["list"].([]any); !ok {
		t.Errorf("a []string comes back as %T", got.CustomMetadata["list"])
	}
	if want := at.Truncate(time.Microsecond); !got.Timestamp.Equal(want) || !ev.Timestamp.Equal(want) {
		t.Errorf("the timestamp comes back as %v, the caller's event has %v, want %v for both", got.Timestamp, ev.Timestamp, want)
	}
}

// SQLite cascades only if foreign keys are enabled. Otherwise a session re-created under the same
// ID has the events of the old one.
func TestPinDatabaseKeepsEventsOfADeletedSessionWithoutForeignKeys(t *testing.T) {
	t.Parallel()
	for foreignKeys, left := range map[bool]int{false: 1, true: 0} {
		service := storages.OpenDatabase(t, filepath.Join(t.TempDir(), "sessions.db"), foreignKeys)
		sess := createBare(t, service)
		if err := service.AppendEvent(t.Context(), sess, said("a", "user", "a", time.Now().Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		recreate(t, service)
		if got := idsOf(getBare(t, service)); len(got) != left {
			t.Errorf("foreign keys %t: the new session has events %v, want %d", foreignKeys, got, left)
		}
	}
}

// Every Get returns pointers to the stored events, and their content is that of the appended event.
// So events must never be modified.
func TestPinInMemorySharesEvents(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	sess := createBare(t, service)
	mine := said("a", "user", "a", time.Now())
	if err := service.AppendEvent(t.Context(), sess, mine); err != nil {
		t.Fatal(err)
	}
	one, two := getBare(t, service).Events().At(0), getBare(t, service).Events().At(0)
	if one != two {
		t.Error("two Gets return different pointers for one event")
	}
	if one == mine {
		t.Error("the store holds the caller's pointer")
	}
	if one.Content != mine.Content {
		t.Error("the stored event has a content of its own")
	}
	if sess.Events().At(0) != mine {
		t.Error("the handle does not hold the caller's pointer")
	}
}

// A handle is a snapshot plus the events appended through it.
func TestPinHandlesOfOneSessionDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			service := store.Open(t)
			createBare(t, service)
			one, two := getBare(t, service), getBare(t, service)
			if err := service.AppendEvent(t.Context(), one, said("a", "user", "a", time.Now().Add(time.Hour))); err != nil {
				t.Fatal(err)
			}
			if one.Events().Len() != 1 || two.Events().Len() != 0 {
				t.Errorf("the handles have %d and %d events, want 1 and 0", one.Events().Len(), two.Events().Len())
			}
		})
	}
}

// AppendEvent accepts only sessions of its own service, so a decorator must unwrap its sessions.
func TestPinServicesRefuseSessionsOfOthers(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			service := store.Open(t)
			sess := foreignSession{createBare(t, service)}
			if err := service.AppendEvent(context.Background(), sess, said("a", "user", "a", time.Now())); err == nil {
				t.Error("a wrapped session is accepted")
			}
		})
	}
}
