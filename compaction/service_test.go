package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// key of the session that the tests use.
var ref = compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "session"}

func getRequest() *session.GetRequest {
	return &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}
}

// oracleConfig is the default config, synchronous, with a summarizer that forgets nothing.
func oracleConfig() (compaction.Config, *compactiontest.Oracle) {
	oracle := &compactiontest.Oracle{}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = oracle
	cfg.Synchronous = true
	return cfg, oracle
}

func newService(t testing.TB, inner session.Service, cfg compaction.Config) *compaction.CompactionSessionService {
	t.Helper()
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := svc.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return svc
}

func create(t testing.TB, svc session.Service) session.Session {
	t.Helper()
	resp, err := svc.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func get(t testing.TB, svc session.Service) session.Session {
	t.Helper()
	resp, err := svc.Get(t.Context(), getRequest())
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func appendAll(t testing.TB, svc session.Service, sess session.Session, events ...*session.Event) {
	t.Helper()
	for _, ev := range events {
		if err := svc.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatalf("AppendEvent(%s): %v", ev.ID, err)
		}
	}
}

func eventsOf(sess session.Session) []*session.Event {
	var out []*session.Event
	for ev := range sess.Events().All() {
		out = append(out, ev)
	}
	return out
}

// rawEvents returns what is stored, records among it.
func rawEvents(t *testing.T, svc *compaction.CompactionSessionService) []*session.Event {
	t.Helper()
	resp, err := svc.Raw(t.Context(), getRequest())
	if err != nil {
		t.Fatal(err)
	}
	return eventsOf(resp.Session)
}

func records(t *testing.T, events []*session.Event) []*compaction.CompactionMetadata {
	t.Helper()
	var out []*compaction.CompactionMetadata
	for _, ev := range events {
		m, err := compaction.GetCompactionMetadata(ev)
		if errors.Is(err, compaction.ErrNoRecord) {
			continue
		}
		if err != nil {
			t.Fatalf("record %s: %v", ev.ID, err)
		}
		out = append(out, m)
	}
	return out
}

// checkView checks the invariants of what a fresh handle shows.
func checkView(t *testing.T, svc *compaction.CompactionSessionService) {
	t.Helper()
	view, raw := eventsOf(get(t, svc)), rawEvents(t, svc)
	inner := map[string]*session.Event{}
	for _, ev := range raw {
		inner[ev.ID] = ev
	}
	// The database service makes new events on every read: compare by ID.
	for i, ev := range view {
		if stored, ok := inner[ev.ID]; ok {
			view[i] = stored
		}
	}
	if err := compactiontest.Check(raw, view); err != nil {
		t.Errorf("view of %d stored events: %v", len(raw), err)
	}
}

func TestADKConformanceSuitePassesWrapped(t *testing.T) {
	t.Parallel()
	for _, b := range backends(t) {
		t.Run(b.Name, func(t *testing.T) {
			sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service {
				cfg, _ := oracleConfig()
				return newService(t, b.Anew(t).Open(t), cfg)
			})
		})
	}
}

// TestTurnsMakeTheExpectedNumberOfEvents is ADR-009's acceptance table: with θ 5 and ω 2, 3 turns of
// one event leave 3 events stored, 5 leave 6, 12 leave 14.
func TestTurnsMakeTheExpectedNumberOfEvents(t *testing.T) {
	t.Parallel()
	for turns, stored := range map[int]int{3: 3, 4: 4, 5: 6, 9: 10, 10: 12, 12: 14} {
		t.Run(fmt.Sprintf("%d turns", turns), func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, _ := oracleConfig()
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				h := &compactiontest.History{}
				for i := 1; i <= turns; i++ {
					h.Agent(fmt.Sprintf("inv%d", i), "agent", fmt.Sprintf("The code for item %d is %s; it was asked for and written down with all the usual care.", i, compactiontest.Fact(i)))
					appendAll(t, svc, sess, h.Last())
				}
				if got := len(rawEvents(t, svc)); got != stored {
					t.Errorf("%d events stored, want %d", got, stored)
				}
				checkView(t, svc)
			})
		})
	}
}
