package gemini_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// verify checks a session after a run. The expected number of compactions is stored and some events
// are hidden. Storage has every event once and unchanged. A fresh view is valid. No agent event has
// the summarizer's usage.
func (a *app) verify(compactions int) {
	a.t.Helper()
	if n := len(a.log.of(compaction.Stored)); n < compactions {
		a.t.Errorf("%d compactions, want at least %d:\n%s", n, compactions, a.log)
	}
	raw := a.raw()
	a.checkHistory(raw)
	view := a.view()
	shown := 0
	for i, ev := range view {
		// The database service creates new events on every read.
		if at := slices.IndexFunc(raw, func(other *session.Event) bool { return other.ID == ev.ID && !compaction.IsCompactionEvent(other) }); at >= 0 {
			view[i] = raw[at]
			shown++
		}
	}
	if err := compactiontest.Check(raw, view); err != nil {
		a.t.Errorf("view of %d stored events: %v", len(raw), err)
	}
	if compactions > 0 && shown >= len(a.history) {
		a.t.Errorf("no event is hidden: %d of %d events are shown", shown, len(a.history))
	}
}

func (a *app) checkHistory(raw []*session.Event) {
	a.t.Helper()
	var got []string
	for _, ev := range raw {
		if u := ev.UsageMetadata; u != nil && (compaction.IsCompactionEvent(ev) || u.PromptTokenCount >= summaryMark) {
			a.t.Errorf("event %s of %s bears the summarizer's usage: %d tokens", ev.ID, ev.Author, u.PromptTokenCount)
		}
		if !compaction.IsCompactionEvent(ev) {
			got = append(got, stored(ev.Author, ev.Content))
		}
	}
	if diff := cmp.Diff(a.history, got); diff != "" {
		a.t.Errorf("the stored history is not what was said (-said +stored):\n%s", diff)
	}
}

// raw returns the stored events, including records.
func (a *app) raw() []*session.Event {
	a.t.Helper()
	resp, err := a.svc.Raw(a.t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		a.t.Fatal(err)
	}
	return slices.Collect(resp.Session.Events().All())
}

// view returns the events that a fresh handle shows.
func (a *app) view() []*session.Event {
	a.t.Helper()
	resp, err := a.svc.Get(a.t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		a.t.Fatal(err)
	}
	return slices.Collect(resp.Session.Events().All())
}
