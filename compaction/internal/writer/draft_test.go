package writer

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

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
