package compaction_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// TestFiltersApplyToTheViewOnly: a runner that asks for the newest events gets those of the view,
// summaries counted, and what is selected for a summary does not depend on what it asked for.
func TestFiltersApplyToTheViewOnly(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		appendAll(t, svc, create(t, svc), turns(9)...)
		whole := compactiontest.IDs(eventsOf(get(t, svc)))
		if len(whole) != 13 { // one summary of three turns, six turns raw
			t.Fatalf("the view shows %v", whole)
		}
		filter := func(recent int, after time.Time) session.Session {
			req := getRequest()
			req.NumRecentEvents, req.After = recent, after
			resp, err := svc.Get(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if req.NumRecentEvents != recent || !req.After.Equal(after) {
				t.Error("the caller's request was changed")
			}
			return resp.Session
		}
		for recent, from := range map[int]int{0: 0, 1: 12, 3: 10, 13: 0, 14: 0, 100: 0} {
			if got := compactiontest.IDs(eventsOf(filter(recent, time.Time{}))); !slices.Equal(got, whole[from:]) {
				t.Errorf("NumRecentEvents %d: %v, want %v", recent, got, whole[from:])
			}
		}
		cutoff := eventsOf(get(t, svc))[9].Timestamp
		if got := compactiontest.IDs(eventsOf(filter(0, cutoff))); !slices.Equal(got, whole[9:]) {
			t.Errorf("After: %v, want %v", got, whole[9:])
		}
		if got := compactiontest.IDs(eventsOf(filter(2, cutoff))); !slices.Equal(got, whole[11:]) {
			t.Errorf("both: %v, want %v", got, whole[11:])
		}

		sess := filter(1, time.Time{})
		appendAll(t, svc, sess, turns(10)[18:]...)
		got := records(t, rawEvents(t, svc))
		if len(got) != 2 || len(got[1].Covered) < 8 {
			t.Errorf("%d records through a handle that shows one event; the filter limits selection", len(got))
		}
		if view := eventsOf(sess); view[len(view)-1].ID != "e20" {
			t.Errorf("the filtered handle ends with %s", view[len(view)-1].ID)
		}
		checkView(t, svc)
	})
}

func TestListedSessionsAreNeverSelectedFrom(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, oracle := oracleConfig()
		svc := newService(t, inner, cfg)
		events := turns(5)
		appendAll(t, svc, create(t, svc), events[:8]...)
		resp, err := svc.List(t.Context(), &session.ListRequest{AppName: ref.AppName, UserID: ref.UserID})
		if err != nil || len(resp.Sessions) != 1 || resp.Sessions[0].ID() != ref.SessionID {
			t.Fatalf("List: %v, %v", resp, err)
		}
		appendAll(t, svc, resp.Sessions[0], events[8:]...)
		if n := len(oracle.Requests()); n != 0 {
			t.Errorf("%d summaries from a session without its history", n)
		}
		flush(t, svc)
		if n := len(summariesIn(t, svc)); n != 1 {
			t.Errorf("%d summaries after Flush, want 1", n)
		}
		wantOnce(t, svc, events)
		checkView(t, svc)
	})
}

func TestSessionCreatedAnewStartsFresh(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(12)...)
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	if _, err := svc.Get(t.Context(), getRequest()); err == nil {
		t.Error("Get finds a deleted session")
	}
	sess := create(t, svc)
	if view := eventsOf(sess); len(view) != 0 {
		t.Errorf("the new session begins with %v", compactiontest.IDs(view))
	}
	appendAll(t, svc, sess, turns(12)...)
	if got := status(t, svc); got.StoredEvents != 24+2 || len(got.Summaries) == 0 {
		t.Errorf("status of the new session: %+v", got)
	}
	checkView(t, svc)
}

func TestStatusAddsUp(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		create(t, svc)
		if got := status(t, svc); got.StoredEvents != 0 || got.VisibleEvents != 0 || got.PromptTokens != 0 || got.Due || got.Reason == "" {
			t.Errorf("empty session: %+v", got)
		}
		sess := get(t, svc)
		appendAll(t, svc, sess, turns(11)...)
		raw, view, got := rawEvents(t, svc), eventsOf(sess), status(t, svc)
		if got.StoredEvents != len(raw) || got.VisibleEvents != len(view) || got.UnreadableRecords != 0 {
			t.Errorf("status counts %d stored and %d visible events, there are %d and %d", got.StoredEvents, got.VisibleEvents, len(raw), len(view))
		}
		hidden := 0
		for i, s := range got.Summaries {
			if s.RecordID != view[i].ID || s.CompactedTokens >= s.OriginalTokens {
				t.Errorf("summary %d: %+v", i, s)
			}
			hidden += s.Events
		}
		if hidden == 0 || hidden+got.VisibleEvents-len(got.Summaries) != 22 {
			t.Errorf("summaries stand for %d events, %d are shown, of 22", hidden, got.VisibleEvents-len(got.Summaries))
		}
		if got.PromptTokens <= 0 || got.PromptTokens >= got.TokenThreshold || got.TokenThreshold >= got.HardLimit {
			t.Errorf("tokens: %+v", got)
		}
		again := status(t, svc)
		if len(again.Summaries) != len(got.Summaries) || again.StoredEvents != got.StoredEvents {
			t.Error("Status changed something")
		}
	})
	cfg, _ := manualOnly()
	svc := newService(t, session.InMemoryService(), cfg)
	if _, err := svc.Status(t.Context(), ref); err == nil {
		t.Error("status of a session that does not exist")
	}
}
