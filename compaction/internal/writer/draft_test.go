package writer

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestASummaryIsWrittenFromWhatWasCut: the cut served one prompt, and is the worse source.
func TestASummaryIsWrittenFromWhatWasCut(t *testing.T) {
	t.Parallel()
	const whole = "The table at Casa Lola is booked for 20:00, and the flowers are paid. The guests were told of both on Monday."
	shortened := func(in *record.Metadata, j Job, shorter int) *record.Metadata {
		t.Helper()
		window := selector.Selection{Absorb: []*record.Metadata{in}, Tokens: 1000}
		d, _, err := Write(t.Context(), summarizer.Extractive{}, Assignment{
			Job: j, Window: window, Rewrites: true, SummaryTokens: 500, Shorter: shorter, Room: 500, Timeout: time.Minute,
		}, &learned.Attempts{})
		if err != nil {
			t.Fatal(err)
		}
		return d.Meta
	}
	first := &record.Metadata{RecordID: "r1"}
	if err := first.SetText(whole); err != nil {
		t.Fatal(err)
	}
	forced := Job{Forced: true, Extractive: true}
	once := shortened(first, forced, 8)
	twice := shortened(once, forced, 6)
	for _, m := range []*record.Metadata{once, twice} {
		if text, err := m.Text(); err != nil || len(text) >= len(whole)/2 || m.Uncut != whole {
			t.Errorf("%q is shown, %v, and %q kept", text, err, m.Uncut)
		}
	}
	later := shortened(twice, Job{}, 0)
	if text, err := later.Text(); err != nil || text != whole || later.Uncut != "" {
		t.Errorf("a later summary says %q, %v, and keeps %q", text, err, later.Uncut)
	}
	if m := shortened(first, Job{}, 8); m.Uncut != "" {
		t.Errorf("a summary that no full prompt has cut keeps %q", m.Uncut)
	}
}

// TestCallsThatAreGivenUpAreReportedOnce: a job that leaves its draft to wait may race with the append
// that stores the draft.
func TestCallsThatAreGivenUpAreReportedOnce(t *testing.T) {
	t.Parallel()
	a := Assignment{Window: selector.Selection{
		Events:  []*session.Event{{ID: "e1"}, {ID: "e2"}},
		GivenUp: []*session.Event{{ID: "e2"}},
	}}
	d, err := newDraft(context.Background(), a, "Two calls were made.", summarizer.Result{Content: genai.NewContentFromText("Two calls were made.", genai.RoleModel)})
	if err != nil {
		t.Fatal(err)
	}
	var reported atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { reported.Add(int32(len(d.TakeGivenUp()))) })
	}
	all.Wait()
	if n := reported.Load(); n != 1 {
		t.Errorf("%d calls were reported as given up, want 1", n)
	}
}

// TestADraftKeepsNothingOfItsAssignmentAlive: a draft that cannot be stored waits, in many sessions at once, and the view
// of a long history must not wait with it.
func TestADraftKeepsNothingOfItsAssignmentAlive(t *testing.T) {
	t.Parallel()
	d, history := drafted(t)
	for range 100 {
		if runtime.GC(); history.Value() == nil {
			break
		}
	}
	if history.Value() != nil {
		t.Error("the draft keeps what its window was selected from")
	}
	runtime.KeepAlive(d)
}

// drafted returns a draft, and what its assignment refers to.
func drafted(t *testing.T) (*Draft, weak.Pointer[[1000]*session.Event]) {
	history := &[1000]*session.Event{}
	a := Assignment{
		Window: selector.Selection{Events: []*session.Event{{ID: "e1", Author: "user"}}, Tokens: 1000},
		Shown:  func(ev *session.Event) *session.Event { return cmp.Or(history[0], ev) },
	}
	d, err := newDraft(t.Context(), a, "The user wrote.", summarizer.Result{})
	if err != nil {
		t.Fatal(err)
	}
	return d, weak.Make(history)
}
