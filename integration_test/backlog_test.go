package integration_test

import (
	"testing"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// An app adds the service after a hundred turns without it. The past is summarized in windows as
// large as the summarizer accepts, not turn by turn.
func TestABacklogDrainsInFewWindows(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, background}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		a.useRunner(a.inner) // before the service
		flushing := a.mode.flushed
		a.mode.flushed = false
		for i := range m.turns(store, 100) {
			if i%5 == 0 {
				x.will(a.lookups(2))
			}
			a.chat(x, 1)
		}
		a.mode.flushed = flushing
		if n := len(a.log.of(compaction.Started)); n > 0 {
			t.Fatalf("%d compactions before the service was added", n)
		}

		a.wrap()
		a.chat(x, 1)
		a.flush()
		a.chat(x, 1)
		a.verify(1)
		if n := len(a.log.of(compaction.Started)); n > 2 {
			t.Errorf("%d calls of the summarizer, want one for the past and one for the new turns at most", n)
		}
		if status, err := a.svc.Status(t.Context(), ref); err != nil || len(status.Summaries) > a.cfg.MaxSummaries || status.VisibleEvents > 40 {
			t.Errorf("%d summaries, %d events are visible, error %v", len(status.Summaries), status.VisibleEvents, err)
		}
	})
}
