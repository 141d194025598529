package compaction_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// work is what a history cost until nothing was due: how often the service looked at an event to plan a window, and how
// much it allocated.
type work struct{ looks, allocations float64 }

// reader can read some 80 events at a time.
type reader struct{ *weatherman }

func (*reader) MaxInputTokens() int { return 2_500 }

// adopt has a history of n turns compacted by a service that sees it for the first time.
func adopt(t *testing.T, inner session.Service, cfg compaction.Config, n int) work {
	t.Helper()
	h := talk(t, inner, n)
	var looks atomic.Int64
	cfg.ContextWindow, cfg.Summarizer = 10_000, &reader{&weatherman{}}
	cfg.Pin = func(*session.Event) bool { looks.Add(1); return false }
	svc := newService(t, inner, cfg)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	turn := get(t, svc)
	appendAll(t, svc, turn, h.User("new", "And tomorrow?").Last(), h.Agent("new", "agent", "The sun will shine.").Last())
	flush(t, svc)
	runtime.ReadMemStats(&after)
	if view := get(t, svc).Events().Len(); view > 500 {
		t.Fatalf("the view still shows %d of %d events", view, len(h.Events))
	}
	return work{float64(looks.Load()), float64(after.Mallocs - before.Mallocs)}
}

// TestAdoptingALongHistoryCostsAsMuchAsItIsLong: four times the history costs four times as much, and not sixteen times, as
// it would if each of its records cost a look at the whole. It counts allocations, so it runs alone. These may grow by half
// as much again: merges read values once more for each doubling.
func TestAdoptingALongHistoryCostsAsMuchAsItIsLong(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the costs are the same with the race detector and on either major of ADK")
	}
	const few, times, atMost = 1_000, 4, 5
	plain := func() session.Service { return newPlain() }
	for name, with := range map[string]struct {
		compaction.Config
		open func() session.Service
	}{
		"by price":           {compaction.Config{}, session.InMemoryService},
		"by turns":           {compaction.DefaultConfig(), plain},
		"by tokens":          {compaction.Config{InvocationThreshold: compaction.Off}, plain},
		"while a turn waits": {compaction.Config{Synchronous: true}, session.InMemoryService},
	} {
		t.Run(name, func(t *testing.T) {
			short, long := adopt(t, with.open(), with.Config, few), adopt(t, with.open(), with.Config, times*few)
			if grew := long.looks / short.looks; grew > atMost {
				t.Errorf("the service looked %.1f times as often at events of a history %d times as long", grew, times)
			}
			if grew := long.allocations / short.allocations; grew > 1.5*times {
				t.Errorf("it allocated %.1f times as much", grew)
			}
		})
	}
}
