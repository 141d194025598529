package compaction_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// A session that must not spend is not summarized in the background, and is made good once it may. A
// compaction that a turn waits for, or a person asks for, does not ask.
func TestABackgroundJobAsksWhetherItMaySummarize(t *testing.T) {
	t.Parallel()
	for _, synchronous := range []bool{false, true} {
		var may atomic.Bool
		var asked atomic.Int32
		cfg, _ := oracleConfig()
		cfg.Synchronous = synchronous
		cfg.MaySummarize = func(of compaction.SessionRef) bool {
			if of != ref {
				t.Errorf("asked for %v", of)
			}
			asked.Add(1)
			return may.Load()
		}
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		h := &compactiontest.History{}
		turns := func(from, to int) int {
			for i := from; i <= to; i++ {
				h.Agent(fmt.Sprintf("inv%d", i), "agent", fmt.Sprintf("The code for item %d is %s; it was asked for and written down with all the usual care.", i, compactiontest.Fact(i)))
				appendAll(t, svc, sess, h.Last())
				if err := svc.Flush(t.Context(), ref); err != nil {
					t.Fatal(err)
				}
			}
			return len(records(t, rawEvents(t, svc)))
		}
		first := turns(1, 8)
		if synchronous {
			if first == 0 || asked.Load() != 0 {
				t.Errorf("a turn that waits: %d records, asked %d times", first, asked.Load())
			}
			continue
		}
		if first != 0 || asked.Load() == 0 {
			t.Errorf("%d records although none may be written; asked %d times", first, asked.Load())
		}
		may.Store(true)
		if turns(9, 9) == 0 {
			t.Error("no record although it may be written again")
		}
		may.Store(false)
		turns(10, 16)
		if result, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 1}); err != nil || result.Skipped {
			t.Errorf("by hand: %+v, %v", result, err)
		}
		checkView(t, svc)
	}
}
