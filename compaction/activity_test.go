package compaction_test

import (
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// Everything that was ever written is counted over every storage, also what later records have absorbed
// and a partial load leaves out.
func TestActivityCountsWhatWasEverWritten(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, inner session.Service) {
		cfg, _ := manualOnly()
		cfg.MaxSummaries = 2
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		if got := status(t, svc).Activity; got != (compaction.Activity{}) {
			t.Errorf("a new session: %+v", got)
		}
		h := &compactiontest.History{}
		for i := range 6 {
			for range 3 {
				h.Turn(fmt.Sprint("inv", len(h.Events)), "agent", words(60), words(60))
				appendAll(t, svc, sess, h.Events[len(h.Events)-2:]...)
			}
			if i == 3 {
				if _, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{Note: "four are done"}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			compact(t, svc, compaction.CompactOptions{Focus: fmt.Sprint("focus ", i), KeepRecent: 1})
		}
		raw := rawEvents(t, svc)
		characters, merges := 0, 0
		for _, m := range records(t, raw) {
			prose, err := m.Text()
			if err != nil {
				t.Fatal(err)
			}
			characters += utf8.RuneCountInString(prose)
			if m.Trigger == record.TriggerMerge {
				merges++
			}
		}
		fresh := newService(t, inner, cfg) // loads the session anew
		got, err := fresh.Status(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		a := got.Activity
		if a.Compactions != 5 || a.Checkpoints != 1 || a.Merges != merges || merges < 3 || a.Characters != characters || a.Focus != "focus 5" || a.Note != "four are done" {
			t.Errorf("%+v, want 5 compactions, 1 checkpoint, %d merges and %d characters", a, merges, characters)
		}
		if a.LastCompaction.IsZero() || a.LastCheckpoint.IsZero() || !a.LastCheckpoint.Before(a.LastCompaction) {
			t.Errorf("the newest: %v and %v", a.LastCompaction, a.LastCheckpoint)
		}
		doubled := append(slices.Clone(raw), raw...) // an answer of the storage was lost
		slices.Reverse(doubled)
		if in := compaction.ActivityIn(slices.Values(append(doubled, nil))); in != a {
			t.Errorf("read from a file: %+v, want %+v", in, a)
		}
	})
}
