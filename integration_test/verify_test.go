package integration_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// stored is what storage must have of one event. It is copied when the event is created, so that
// later changes to the event are detected.
type stored struct{ ID, Author, Branch, Content string }

func storedEvent(ev *session.Event) stored {
	return stored{ev.ID, ev.Author, ev.Branch, canonical(ev.Content)}
}

// storedMessage is what storage must have of a user's message. ADK assigns it an ID that the test
// does not see.
func storedMessage(msg *genai.Content) stored {
	return stored{"", "user", "", canonical(msg)}
}

// canonical returns JSON that does not depend on the order of keys or the types of numbers.
func canonical(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var any any
	if err := json.Unmarshal(data, &any); err != nil {
		return err.Error()
	}
	data, _ = json.Marshal(any)
	return string(data)
}

// verify checks a session after a run. The expected number of compactions is stored and some events
// are hidden. Storage has all events of all turns once and unchanged. A fresh view is valid.
func (a *app) verify(compactions int) {
	a.t.Helper()
	if !a.mode.synchronous {
		a.flush()
	}
	if a.mode == background {
		compactions = min(compactions, 1) // on a busy machine a whole run may pass before a job runs
	}
	if n := len(a.log.of(compaction.Stored)); n < compactions {
		a.t.Errorf("%d compactions, want at least %d:\n%s", n, compactions, a.log)
	}
	raw := a.raw()
	a.checkHistory(raw)
	view := a.view()
	shown := checkView(a.t, raw, view)
	if told := len(withoutRecords(raw)); compactions > 0 && shown >= told {
		a.t.Errorf("no event is hidden: %d of %d events are shown", shown, told)
	}
}

func (a *app) checkHistory(raw []*session.Event) {
	a.t.Helper()
	var got []stored
	for _, ev := range withoutRecords(raw) {
		s := storedEvent(ev)
		if ev.Author == "user" {
			s.ID = ""
		}
		got = append(got, s)
	}
	want := slices.Clone(a.history)
	if a.unordered {
		sortStored(got)
		sortStored(want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		a.t.Errorf("the stored history is not what was said (-said +stored):\n%s", diff)
	}
}

func sortStored(events []stored) {
	slices.SortFunc(events, func(a, b stored) int {
		return slices.Compare([]string{a.ID, a.Author, a.Content}, []string{b.ID, b.Author, b.Content})
	})
}

// checkView checks the rules of a view and returns the number of stored events it shows.
func checkView(t *testing.T, raw, view []*session.Event) int {
	t.Helper()
	byID := map[string]*session.Event{}
	for _, ev := range raw {
		byID[ev.ID] = ev
	}
	// The database service creates new events on every read, so compare by ID.
	shown := 0
	for i, ev := range view {
		if same, ok := byID[ev.ID]; ok {
			if ev.ID != "" { // an event without an ID is in memory and is already the same
				view[i] = same
			}
			shown++
		}
	}
	if err := compactiontest.Check(raw, view); err != nil {
		t.Errorf("view of %d stored events: %v", len(raw), err)
	}
	return shown
}

// raw returns the stored events, including records.
func (a *app) raw() []*session.Event {
	a.t.Helper()
	resp, err := a.svc.Raw(a.t.Context(), getRequest())
	if err != nil {
		a.t.Fatal(err)
	}
	return eventsOf(resp.Session)
}

// view returns the events that a fresh handle shows.
func (a *app) view() []*session.Event {
	a.t.Helper()
	resp, err := a.svc.Get(a.t.Context(), getRequest())
	if err != nil {
		a.t.Fatal(err)
	}
	return eventsOf(resp.Session)
}

func (a *app) records() []*compaction.CompactionMetadata {
	a.t.Helper()
	var out []*compaction.CompactionMetadata
	for _, ev := range a.raw() {
		m, err := compaction.GetCompactionMetadata(ev)
		if errors.Is(err, compaction.ErrNoRecord) {
			continue
		}
		if err != nil {
			a.t.Fatalf("record %s: %v", ev.ID, err)
		}
		out = append(out, m)
	}
	return out
}

func eventsOf(sess session.Session) []*session.Event { return slices.Collect(sess.Events().All()) }

func withoutRecords(events []*session.Event) []*session.Event {
	return slices.DeleteFunc(slices.Clone(events), compaction.IsCompactionEvent)
}
