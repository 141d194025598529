package compactor

import (
	"testing"

	"github.com/adk-go-ext/longsession/compaction/internal/writer"
)

// Steps are for a window, for summaries in its place, and for summaries of a prompt that is over
// the hard limit for certain.
func TestHowAJobGoesOn(t *testing.T) {
	t.Parallel()
	window, summaries := step{action: summarize}, step{action: mergeSummary, otherwise: &step{}}
	urgent := step{action: shrink, otherwise: &step{}, overLimit: true}
	background, forced, last := writer.Job{}, writer.Job{Forced: true}, writer.Job{Forced: true, Extractive: true}
	seen := map[continuation]bool{}
	for _, row := range []struct {
		name    string
		step    step
		got     writer.Result
		job     writer.Job
		hanging bool
		want    continuation
	}{
		{"a window is summarized", window, writer.Written, background, false, goOn},
		{"a window is of no use", window, writer.Discarded, forced, false, stop},
		{"a summary is not shorter", window, writer.Declined, background, false, goOn},
		{"a call hangs", window, writer.Declined, background, true, stop},
		{"a summary is not shorter, at the limit", window, writer.Declined, forced, false, goOnWithoutModel},
		{"no summary is shorter, at the limit", window, writer.Declined, last, false, shrinkInstead},
		{"the summarizer fails", window, writer.Failed, background, false, stop},
		{"the model fails, at the limit", window, writer.Failed, forced, false, goOnWithoutModel},
		{"everything fails, at the limit", window, writer.Failed, last, false, stop},

		{"summaries are merged", summaries, writer.Written, forced, false, goOn},
		{"the model cannot merge", summaries, writer.Failed, forced, false, goOnWithoutModel},
		{"a merge is not shorter, and may not be needed", summaries, writer.Declined, forced, false, endAsPlanned},
		{"a merge is not shorter, and is needed", urgent, writer.Declined, forced, false, goOnWithoutModel},
		{"nothing makes summaries shorter", urgent, writer.Declined, last, false, endAsPlanned},
		{"nothing can be stored", urgent, writer.Failed, last, false, endAsPlanned},
	} {
		got := row.step.after(row.got, row.job, row.hanging)
		if got != row.want {
			t.Errorf("%s: goes on with %d, want %d", row.name, got, row.want)
		}
		seen[got] = true
	}
	if len(seen) != int(endAsPlanned)+1 {
		t.Errorf("the table has the continuations %v only", seen)
	}
}
