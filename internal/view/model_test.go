package view_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// enough returns how many cases a model test must have compared: fewer where it draws fewer histories.
func enough(n int) int {
	if testkit.Brief() {
		return n / 50
	}
	return n
}

// tally counts what was compared, so that a test cannot pass by comparing nothing.
type tally struct{ views, fronts, standing, hidden, moved, standIns int }

func (n *tally) count(events []*session.Event) {
	n.views++
	n.hidden += len(events)
	last := -1
	for _, s := range oracle.View(events) {
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
	testkit.CheckUntil(t, 15, func(t *rapid.T) {
		events := histories.Generate(rapid.IntRange(0, 48).Draw(t, "n"), func(k int) int { return rapid.IntRange(0, k-1).Draw(t, "pick") })
		obeys(t, events, view.Project(events))
		from := rapid.IntRange(0, len(events)).Draw(t, "from")
		v := view.New(slices.Clone(events[:from]))
		for i := from; i < len(events); i++ {
			v.Append(events[i])
			obeys(t, events[:i+1], v.Events().Slice())
		}
		n.count(events)
	}, func() error {
		if n.views < enough(1000) || n.fronts < enough(1000) || n.standing < enough(100) || n.hidden < enough(1000) || n.moved < enough(200) || n.standIns < enough(1000) {
			return fmt.Errorf("%+v", n)
		}
		return nil
	})
}

// TestCurrentRecordsAreWhatTheRulesSay is the same for records that all tell of the same few events, so
// that nearly each of them absorbs or replaces others.
func TestCurrentRecordsAreWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	shown, replaced := 0, 0
	testkit.CheckUntil(t, 60, func(t *rapid.T) {
		h := ct.History{Events: turns(2).Events}
		n := rapid.IntRange(1, 6).Draw(t, "records")
		for i := range n {
			h.Compact(fmt.Sprint("r", i), "e1").Amend(func(m *record.Metadata) {
				m.Covered = rapid.SliceOfN(rapid.Map(rapid.SampledFrom([]string{"e1", "e2", "gone"}), reference), 0, 2).Draw(t, "covered")
				m.Absorbed = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, n), recordName), 0, 2).Draw(t, "absorbed")
				m.CreatedAt = at(rapid.IntRange(0, 5).Draw(t, "age"))
			})
		}
		projected := view.Project(h.Events)
		obeys(t, h.Events, projected)
		shown += len(fronts(projected))
		replaced += n - len(fronts(projected))
	}, func() error {
		if shown < enough(1000) || replaced < enough(1000) {
			return fmt.Errorf("%d summaries shown and %d records replaced", shown, replaced)
		}
		return nil
	})
}

func reference(id string) record.Ref { return record.Ref{ID: id} }
func recordName(n int) string        { return fmt.Sprint("r", n) }

func obeys(t tester, events, shown []*session.Event) {
	t.Helper()
	if err := oracle.Compare(events, shown); err != nil {
		t.Fatalf("%v", err)
	}
}
