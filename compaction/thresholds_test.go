package compaction_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// TestBothRatiosAreSharesOfTheEffectiveWindow: a prompt at SafetyRatio is compacted in the background, one
// at BlockRatio before the next prompt, and both are counted from the window less the reserve for the reply.
func TestBothRatiosAreSharesOfTheEffectiveWindow(t *testing.T) {
	t.Parallel()
	const window, reply = 120_000, 20_000
	for _, pair := range []struct{ safety, block float64 }{{0, 0}, {0.95, 0.98}, {0.70, 0.95}, {0.5, 1}} {
		warn, block := pair.safety, pair.block
		if warn == 0 {
			warn, block = 0.7, 0.98
		}
		const effective = window - reply
		for _, row := range []struct {
			prompt int
			want   string
		}{
			{int(warn*effective) - 500, "nothing"},
			{int(warn*effective) + 500, "background"},
			{int(block*effective) - 2_000, "background"}, // a count may be 1.25% and a little too low for the next prompt
			{int(block*effective) + 500, "inline"},
		} {
			t.Run(fmt.Sprintf("%v/%v at %d", warn, block, row.prompt), func(t *testing.T) {
				t.Parallel()
				cfg, _ := oracleConfig()
				seen := &notes{}
				cfg.Synchronous, cfg.InvocationThreshold, cfg.RetainEvents, cfg.Observer = false, compaction.Off, 2, seen.Observe
				cfg.SafetyRatio, cfg.BlockRatio, cfg.ContextWindow, cfg.MaxOutputTokens = pair.safety, pair.block, window, reply
				svc := newService(t, session.InMemoryService(), cfg)
				sess := create(t, svc)
				var h compactiontest.History
				for i := range 10 { // some 45,000 tokens, by the estimate
					h.Turn(fmt.Sprint("inv", i), "agent", words(2_000), words(2_000))
				}
				h.Turn("last", "agent", "And now?", "Done.")
				h.Last().Timestamp = time.Now()
				h.Last().UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(row.prompt), CandidatesTokenCount: 4}
				appendAll(t, svc, sess, h.Events...)
				flush(t, svc)
				got := "nothing"
				if stored := seen.of(compaction.Stored); len(stored) > 0 && stored[0].Inline {
					got = "inline"
				} else if len(stored) > 0 {
					got = "background"
				}
				if got != row.want {
					t.Errorf("a prompt counted as %d: %s, want %s", row.prompt, got, row.want)
				}
				limits := status(t, svc)
				if limits.TokenThreshold < int(warn*effective) || limits.TokenThreshold > int(warn*effective)+1 || limits.HardLimit != int(block*effective) {
					t.Errorf("threshold %d, hard limit %d; want %v and %v of %d", limits.TokenThreshold, limits.HardLimit, warn, block, effective)
				}
			})
		}
	}
}
