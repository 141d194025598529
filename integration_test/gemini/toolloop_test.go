package gemini_test

import (
	"testing"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
)

// overhead is what the server says that instructions and tools take up, in tokens: more than the whole
// conversation.
const overhead = 20_000

// onReport makes a trigger that fires by what the server reports, and never by what the conversation
// itself is estimated at.
func onReport(cfg *compaction.Config) {
	cfg.InvocationThreshold = compaction.Off
	cfg.TokenThreshold = overhead + 1500
}

// TestToolLoopIsCompactedByWhatTheServerReports: forty tool rounds in one turn, with compactions in the
// midst of it that nothing but the reported prompt size can set off.
func TestToolLoopIsCompactedByWhatTheServerReports(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name     string
		mode     agent.StreamingMode
		ids      bool
		parallel int
	}{
		{"one by one", agent.StreamingModeNone, false, 1},
		{"three at once", agent.StreamingModeNone, false, 3},
		{"streamed, with call IDs", agent.StreamingModeSSE, true, 1},
	} {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			a := simple(t, onReport)
			a.mode, a.overhead = variant.mode, overhead
			a.chat(3)
			for range 40 {
				a.will(assistant, a.lookups(variant.ids, variant.parallel))
			}
			a.chat(1)
			live := 0
			for _, o := range a.log.of(compaction.Stored) {
				if o.Trigger == record.TriggerTokens {
					live++
				}
			}
			if live < 3 {
				t.Errorf("%d compactions in the midst of the turn, want several:\n%s", live, a.log)
			}
			a.chat(8)
			a.verify(3)
			a.checkBound(t)
		})
	}
}

// checkBound: prompts were over the threshold, and never far.
func (a *app) checkBound(t *testing.T) {
	t.Helper()
	largest := 0
	for _, r := range a.received(false) {
		largest = max(largest, r.tokens)
	}
	if largest < a.cfg.TokenThreshold || largest > overhead+10_000 {
		t.Errorf("the largest prompt has %d tokens, with a threshold of %d", largest, a.cfg.TokenThreshold)
	}
}

// TestWithoutAReportTheEstimateDecides: the counterpart. The very same turn without usage metadata
// compacts nothing, so it was the report that did.
func TestWithoutAReportTheEstimateDecides(t *testing.T) {
	t.Parallel()
	a := simple(t, onReport)
	a.overhead = overhead
	silent := func(r reply) reply {
		r.noUsage = true
		return r
	}
	for range 40 {
		a.will(assistant, silent(a.lookups(false, 1)))
	}
	a.will(assistant, silent(answer()))
	a.ask()
	a.verify(0)
	if n := len(a.received(true)); n != 0 {
		t.Errorf("%d summaries were asked for", n)
	}
}
