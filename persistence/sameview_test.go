package persistence_test

import (
	"context"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// shown returns the ID, the author and the text of each event of a view, for comparison.
func shown(view []*session.Event) []string {
	out := make([]string, len(view))
	for i, ev := range view {
		out[i] = ev.ID + "|" + ev.Author
		if ev.Content != nil {
			for _, part := range ev.Content.Parts {
				if part != nil {
					out[i] += "|" + part.Text
				}
			}
		}
	}
	return out
}

// partialView returns the view of a partial session, as the compaction service computes it.
func partialView(few *persistence.ActiveSession) *view.View {
	return view.NewPartial(view.Collect(few.Events()), view.Unloaded{
		Covered:   func(ev *session.Event) bool { return few.Covered(ev.ID) },
		Overtaken: func(ev *session.Event) bool { return few.Overtaken(ev.ID) },
	})
}

// sameView compares the view of a partial session with the view of the whole session, and checks
// what was loaded. It reports whether some events were not loaded.
func sameView(t tester, s *persistence.SQLiteSessionService, id string) (partial bool) {
	t.Helper()
	few := active(t, s, id)
	resp, err := s.Get(context.Background(), request(id))
	if err != nil {
		t.Fatal(err)
	}
	all := resp.Session
	loaded, stored := view.Collect(few.Events()), view.Collect(all.Events())
	full := view.Inspect(stored)
	part := view.New(loaded)
	if few.Partial() {
		part = partialView(few)
	}
	if got, want := shown(part.Events().Slice()), shown(full.View); !slices.Equal(got, want) {
		t.Fatalf("of %d events %v are loaded\nview of these: %q\nview of all:   %q", len(stored), ids(few), got, want)
	}
	if few.StoredEvents() != len(stored) || few.Partial() != (len(loaded) < len(stored)) || !few.LastUpdateTime().Equal(all.LastUpdateTime()) {
		t.Fatalf("%d of %d events loaded: stored %d, partial %v, updated %v", len(loaded), len(stored), few.StoredEvents(), few.Partial(), few.LastUpdateTime())
	}
	if got := part.State().Unreadable; got != full.Unreadable {
		t.Fatalf("%d unreadable records loaded of %d", got, full.Unreadable)
	}
	if !few.Partial() {
		return false
	}
	live, visible := map[string]bool{}, map[string]*session.Event{}
	for _, m := range full.Current {
		live[m.RecordID] = true
	}
	for _, ev := range full.View {
		if full.IsStored(ev) {
			visible[ev.ID] = ev
		}
	}
	answer := adk.Resumed(stored)
	for _, ev := range loaded {
		if answer >= 0 && ev.InvocationID == stored[answer].InvocationID {
			continue // the rest of the run comes along
		}
		if m, err := record.From(ev); m != nil && !live[m.RecordID] || m == nil && err == nil && visible[ev.ID] == nil {
			t.Fatalf("event %s is loaded, but the view does not need it", ev.ID)
		}
		if ev := visible[ev.ID]; ev != nil && few.Covered(ev.ID) != full.Covered(ev) {
			t.Fatalf("event %s: covered %v, want %v", ev.ID, few.Covered(ev.ID), full.Covered(ev))
		}
	}
	return true
}
