package gemini_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/tokens"
)

// dollars is what 50 turns cost as input, in USD.
type dollars struct {
	none     float64 // nothing is cached
	explicit float64 // with prompt.Cache: input, creation and storage
	implicit float64 // the provider reads nine tenths of instruction and tools from a cache by itself
}

// costOf plays 50 turns with a pause between two turns.
func costOf(t *testing.T, pause time.Duration) (d dollars, s prompt.CacheStats) {
	a := newCaching(t, cacheOn)
	price, _ := tokens.Lookup(assistant)
	a.onUsage = func(r *request, prompt, _ int) {
		whole := tokens.Usage{PromptTokens: prompt}
		d.none += price.Cost(whole)
		whole.CachedTokens = cachedSize * 9 / 10
		d.implicit += price.Cost(whole)
		whole.CachedTokens = 0
		if r.CachedContent != "" {
			whole.CachedTokens = cachedSize
		}
		d.explicit += price.Cost(whole)
	}
	for range 50 {
		a.play(1)
		time.Sleep(pause)
	}
	if err := a.cache.Close(t.Context()); err != nil {
		t.Error(err)
	}
	s = a.cache.Stats()
	if math.Abs(d.none-d.explicit-s.Saved) > 1e-9 {
		t.Errorf("saved %v by the counts, %v by the requests", s.Saved, d.none-d.explicit)
	}
	d.explicit += s.WriteCost + s.StorageCost
	return d, s
}

// TestDollarsOf50Turns plays 50 turns of Gemini 2.5 Flash with 75 requests and 10,000 tokens of instruction
// and tools. The table of BENCHMARKS.md is its output.
func TestDollarsOf50Turns(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	fmt.Fprintf(&table, "| pause between turns | nothing cached | explicit cache | of it creation and storage | implicit, 90%% |\n|---|---|---|---|---|\n")
	for _, r := range []struct {
		pause time.Duration
		pays  bool // against nothing cached
	}{
		{5 * time.Second, true}, {time.Minute, true}, {5 * time.Minute, true}, {9 * time.Minute, true},
		{11 * time.Minute, false}, {time.Hour, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, s := costOf(t, r.pause)
			fmt.Fprintf(&table, "| %s | $%.4f | $%.4f | $%.4f | $%.4f |\n", r.pause, d.none, d.explicit, s.WriteCost+s.StorageCost, d.implicit)
			if (d.explicit < d.none) != r.pays || s.Banned != 0 || s.Failed != 0 {
				t.Errorf("%v: %+v, %+v", r.pause, d, s)
			}
			if !r.pays && (s.Created != 1 || d.explicit-d.none > 0.005) {
				t.Errorf("%v: more than one cache that does not pay: %+v", r.pause, s)
			}
			if math.Abs(s.Net()-(d.none-d.explicit)) > 1e-9 {
				t.Errorf("net %v, want %v", s.Net(), d.none-d.explicit)
			}
		})
	}
	t.Log("\n" + table.String())
}
