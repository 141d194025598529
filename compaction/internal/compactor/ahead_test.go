package compactor

import (
	"fmt"
	"slices"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

// Steps that are planned from the last step are those that new snapshots lead to, merges included. Else a history that
// grew before compaction was turned on would cost a snapshot of the whole for each of its windows.
func TestStepsPlannedAheadAreThoseOfNewSnapshots(t *testing.T) {
	t.Parallel()
	t.Run("by turns", func(t *testing.T) {
		t.Parallel()
		planAhead(t, func(s *snapshot) { s.params.MaxTokens, s.params.Cost = 1500, s.params.Size })
	})
	t.Run("by tokens", func(t *testing.T) {
		t.Parallel()
		planAhead(t, func(s *snapshot) {
			s.params.MaxTokens, s.params.Cost, s.params.Threshold, s.limits.Threshold = 1000, s.params.Size, 0, 3000
		})
	})
}

// planAhead carries out all steps that are planned one from the other, as the settings say.
func planAhead(t *testing.T, set func(*snapshot)) {
	h := talk(60)
	s := moment(h)
	set(s)
	s.params.Shared = &selector.Shared{}
	ahead := *s
	planned, merges := 0, 0
	for n := range 60 {
		fresh := moment(h)
		set(fresh)
		fresh.chosen = ahead.chosen
		want, got := plan(*fresh), plan(ahead)
		if ahead.ahead && !got.writes() {
			break
		}
		if fmt.Sprint(got.action, ct.IDs(got.window.Events), recordIDs(got.window.Absorb)) != fmt.Sprint(want.action, ct.IDs(want.window.Events), recordIDs(want.window.Absorb)) {
			t.Fatalf("step %d is %+v, want %+v", n, got, want)
		}
		id := fmt.Sprint("r", n)
		if got.action == mergeSummary {
			merges++
			h.Merge(id, recordIDs(got.window.Absorb)...)
		} else {
			h.Compact(id, ct.IDs(got.window.Events)...).Amend(func(m *record.Metadata) { m.Through = record.RefTo(got.window.Through) })
		}
		m, err := record.From(h.Last())
		if err != nil {
			t.Fatal(err)
		}
		next := ahead.after(&got, m)
		if next == nil {
			t.Fatalf("nothing is planned ahead after step %d", n)
		}
		planned++
		ahead = *next
	}
	if planned < 10 || merges == 0 {
		t.Errorf("%d steps were planned ahead, %d of them merges", planned, merges)
	}
}

// A window that no summarizer can read is written without a model, also once a merge has made room for it: what was planned
// ahead would ask the model for it.
func TestNoStepIsPlannedAheadOfTheFirstWithoutAModel(t *testing.T) {
	t.Parallel()
	h := summarized(3, 6, long("summaries"))
	s := moment(h)
	overLimit(s)
	s.params.Threshold, s.params.Cost, s.params.MaxTokens = 0, promptsize.OfEvent, 10
	merge := plan(*s)
	if !merge.makesRoom || !merge.extractive || !merge.candidate.Unbounded {
		t.Fatalf("%+v: the test shows nothing", merge)
	}
	h.Merge("m", recordIDs(merge.window.Absorb)...)
	m, err := record.From(h.Last())
	if err != nil {
		t.Fatal(err)
	}
	if next := s.after(&merge, m); next != nil && !plan(*next).extractive {
		t.Error("the next step asks a model")
	}
}

func recordIDs(records []*record.Metadata) (ids []string) {
	for _, m := range records {
		ids = append(ids, m.RecordID)
	}
	slices.Sort(ids)
	return ids
}
