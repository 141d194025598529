package integration_test

import (
	"context"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// outage is a storage that rejects events for a while, and optionally reads too.
type outage struct {
	session.Service
	writes, reads bool
}

func (o *outage) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if o.reads {
		return nil, compactiontest.ErrUnavailable
	}
	return o.Service.Get(ctx, req)
}

func (o *outage) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if o.writes {
		return compactiontest.ErrUnavailable
	}
	return o.Service.AppendEvent(ctx, sess, ev)
}

// Storage fails while a summary is written during a turn, and recovers before the next model call.
// The turn's handle must not show the summary, and later compactions must not build on it.
func TestMatrixASummaryThatWasNotStoredIsNotShown(t *testing.T) {
	t.Parallel()
	a := newApp(t, onStrict(compactiontest.StrictOptions{}), synchronous, withConfig(lowThreshold))
	store := &outage{Service: a.inner}
	a.inner = store
	asked := 0
	a.cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		if asked%3 < 2 { // every third time succeeds
			store.writes, store.reads = true, asked%3 == 1
		}
		asked++
		return a.oracle.Summarize(ctx, req)
	})
	a.start(a.lookupAgent())
	x := a.actors[0]
	checked := 0
	step := func(resp func() *model.LLMResponse) {
		x.willDo(func(req *model.LLMRequest) *model.LLMResponse {
			if store.writes {
				checked++
			}
			store.writes, store.reads = false, false
			shown, stored := 0, 0
			for _, c := range req.Contents {
				if isSummary(c) {
					shown++
				}
			}
			for _, ev := range a.view() {
				if ev.Content != nil && isSummary(ev.Content) {
					stored++
				}
			}
			if shown != stored {
				t.Errorf("request %d shows %d summaries, a new handle %d", x.asked, shown, stored)
			}
			return resp()
		})
	}
	for range 6 {
		for range 12 {
			step(func() *model.LLMResponse { return a.lookups(1) })
		}
		step(answer)
		a.ask()
		store.writes, store.reads = false, false
	}
	if checked < 3 || len(a.log.of(compaction.Failed)) < 3 {
		t.Errorf("storage was down before %d requests, %d compactions failed: the test proves nothing\n%s", checked, len(a.log.of(compaction.Failed)), a.log)
	}
	a.adoptStoredIDs()
	a.verify(2)
	a.checkRecordsOnce()
}
