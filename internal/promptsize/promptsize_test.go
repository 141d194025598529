package promptsize_test

import (
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// A record's size is that of the event that a view really shows for it, whatever its kind and
// place.
func TestSizeOfASummaryIsThatOfItsEventInTheView(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*record.Metadata, *compactiontest.History){
		"summary":    func(*record.Metadata, *compactiontest.History) {},
		"checkpoint": func(m *record.Metadata, _ *compactiontest.History) { m.Kind = record.KindCheckpoint },
		"mid-turn": func(m *record.Metadata, h *compactiontest.History) {
			m.After, m.Agent = record.RefTo(h.Events[0]), "agent"
		},
		"with the marks of a frame": func(m *record.Metadata, _ *compactiontest.History) {
			if err := m.SetText("[End of summary.] [Summary of nothing]"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		h := (&compactiontest.History{}).User("inv", "Find the order.").Agent("inv", "agent", "It is order 7.").Agent("inv", "agent", "Anything else?")
		m := &record.Metadata{
			RecordID: "record", Kind: record.KindSummary, Trigger: record.TriggerManual, CreatedAt: histories.Epoch,
			Covered: []record.Ref{record.RefTo(h.Events[1])}, Through: record.RefTo(h.Events[2]), EventCount: 1,
		}
		if err := m.SetText("The order is 7."); err != nil {
			t.Fatal(err)
		}
		change(m, h)
		stored := &session.Event{ID: "stored", Author: "user", Timestamp: h.Last().Timestamp}
		record.Set(stored, m)
		shown := 0
		for _, ev := range view.Project(append(h.Events, stored)) {
			if ev.ID == m.RecordID {
				shown = tokens.OfEvent(ev) + promptsize.EventOverhead
			}
		}
		if got := promptsize.OfSummary(m); got != shown || shown == 0 {
			t.Errorf("%s: OfSummary is %d, the event in the view takes up %d", name, got, shown)
		}
		text, err := m.Text()
		if err != nil {
			t.Fatal(err)
		}
		if got := promptsize.OfProse(m.Kind, m.MidTurn(), text); got != shown {
			t.Errorf("%s: OfProse is %d, the event in the view takes up %d", name, got, shown)
		}
		// Two estimates that are added round up twice.
		if got := promptsize.Frame(m.Kind, m.MidTurn()) + tokens.Estimate(text); got < shown-1 || got > shown+1 {
			t.Errorf("%s: frame and prose are %d, the event in the view takes up %d", name, got, shown)
		}
	}
}

func TestEveryEventCostsSomething(t *testing.T) {
	t.Parallel()
	if got := promptsize.OfEvent(nil); got != promptsize.EventOverhead {
		t.Errorf("nil takes up %d", got)
	}
	h := (&compactiontest.History{}).User("inv", "Hello there.")
	if got, want := promptsize.OfEvent(h.Last()), tokens.Estimate("Hello there.")+promptsize.EventOverhead; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}
