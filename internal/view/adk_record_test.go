package view_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
)

// adkRecord is what ADK's own compaction stores of the events between two times, as it is read with types that have no
// field for it.
func adkRecord(id string, from, to int) *session.Event {
	ev := &session.Event{ID: id, InvocationID: id, Author: "user", Timestamp: at(to)}
	ev.CustomMetadata = map[string]any{"_compaction": map[string]any{
		"start_timestamp": float64(at(from).Unix()), "end_timestamp": float64(at(to).Unix()),
		"compacted_content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": "They talked."}}},
	}}
	return ev
}

// ADK leaves the events of a range of times out of a prompt if it sees a record of its compaction. A view shows none, so
// what it shows reaches the model, and a record moves and hides nothing.
func TestARecordOfADKsCompactionIsInNoViewAndChangesNone(t *testing.T) {
	t.Parallel()
	h := turns(4).Compact("s", "e1", "e2")
	for i := range len(h.Events) + 1 {
		events := slices.Insert(slices.Clone(h.Events), i, adkRecord("adk", 0, 100))
		obeys(t, events, view.Project(events))
		if got, want := ids(view.Project(events)), ids(view.Project(h.Events)); got != want {
			t.Errorf("with a record at %d the view is %q, want %q", i, got, want)
		}
		v := view.New(nil)
		for _, ev := range events {
			v.Append(ev)
		}
		if got, want := ids(v.Events().Slice()), ids(view.Project(h.Events)); got != want {
			t.Errorf("with a record appended at %d the view is %q, want %q", i, got, want)
		}
		if state := v.State(); state.Unreadable != 1 || state.Stored != len(events) {
			t.Errorf("%d records hide nothing, of %d events", state.Unreadable, state.Stored)
		}
	}
	testkit.Check(t, func(t *rapid.T) {
		events := histories.Generate(rapid.IntRange(0, 30).Draw(t, "n"), func(k int) int { return rapid.IntRange(0, k-1).Draw(t, "pick") })
		want := ids(view.Project(events))
		i := rapid.IntRange(0, len(events)).Draw(t, "at")
		with := slices.Insert(slices.Clone(events), i, adkRecord("adk", 0, 1000))
		obeys(t, with, view.Project(with))
		if got := ids(view.Project(with)); got != want {
			t.Fatalf("with a record at %d the view is %q, want %q", i, got, want)
		}
		v := view.New(slices.Clone(with[:i]))
		for _, ev := range with[i:] {
			v.Append(ev)
		}
		obeys(t, with, v.Events().Slice())
	})
}
