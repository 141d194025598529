package filtered_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/naive"
	"github.com/adk-go-ext/longsession/record"
)

// soak is how often a model test checks its hundred random histories; LONGSESSION_SOAK multiplies it.
func soak(t *testing.T, usually int) int {
	t.Helper()
	value := os.Getenv("LONGSESSION_SOAK")
	if value == "" {
		return usually
	}
	times, err := strconv.Atoi(value)
	if err != nil || times < 1 {
		t.Fatalf("LONGSESSION_SOAK is %q: want by how much to multiply the work of the model tests", value)
	}
	return times * usually
}

// tally counts what was compared, so that a test cannot pass by comparing nothing.
type tally struct{ views, fronts, standing, hidden, moved, standIns int }

func (n *tally) count(events []*session.Event) {
	n.views++
	n.hidden += len(events)
	last := -1
	for _, s := range naive.View(events) {
		switch {
		case s.StandIns != nil:
			n.standIns++
		case s.Standing:
			n.standing++
		case s.Record != nil:
			n.fronts++
		default:
			n.hidden--
			at := slices.Index(events, s.Event)
			if at < last {
				n.moved++
			}
			last = max(last, at)
		}
	}
}

// TestViewIsWhatTheRulesSay compares views with a plain, slow reading of the rules: made at once, and
// grown event by event from anywhere.
func TestViewIsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	var n tally
	for range soak(t, 15) {
		rapid.Check(t, func(t *rapid.T) {
			events := ct.Generate(rapid.IntRange(0, 48).Draw(t, "n"), func(k int) int { return rapid.IntRange(0, k-1).Draw(t, "pick") })
			obeys(t, events, filtered.Project(events))
			from := rapid.IntRange(0, len(events)).Draw(t, "from")
			view := filtered.NewView(slices.Clone(events[:from]))
			for i := from; i < len(events); i++ {
				view.Append(events[i])
				obeys(t, events[:i+1], view.Events().Slice())
			}
			n.count(events)
		})
	}
	if n.views < 1000 || n.fronts < 1000 || n.standing < 100 || n.hidden < 1000 || n.moved < 1000 || n.standIns < 1000 {
		t.Errorf("compared too little: %+v", n)
	}
}

// TestLifeOfRecordsIsWhatTheRulesSay is the same for records that all tell of the same few events, so
// that nearly each of them absorbs or replaces others.
func TestLifeOfRecordsIsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	shown, dead := 0, 0
	for range soak(t, 60) {
		rapid.Check(t, func(t *rapid.T) {
			h := ct.History{Events: turns(2).Events}
			n := rapid.IntRange(1, 6).Draw(t, "records")
			for i := range n {
				h.Compact(fmt.Sprint("r", i), "e1").Amend(func(m *record.Metadata) {
					m.Covered = rapid.SliceOfN(rapid.Map(rapid.SampledFrom([]string{"e1", "e2", "gone"}), reference), 0, 2).Draw(t, "covered")
					m.Absorbed = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, n), recordName), 0, 2).Draw(t, "absorbed")
					m.CreatedAt = at(rapid.IntRange(0, 5).Draw(t, "age"))
				})
			}
			view := filtered.Project(h.Events)
			obeys(t, h.Events, view)
			shown += len(fronts(view))
			dead += n - len(fronts(view))
		})
	}
	if shown < 1000 || dead < 1000 {
		t.Errorf("%d summaries shown and %d records dead compare too little", shown, dead)
	}
}

func reference(id string) record.Ref { return record.Ref{ID: id} }
func recordName(n int) string        { return fmt.Sprint("r", n) }

func obeys(t tester, events, view []*session.Event) {
	t.Helper()
	if err := naive.Compare(events, view); err != nil {
		t.Fatalf("%v", err)
	}
}
