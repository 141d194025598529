package gemini_test

import (
	"testing"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
)

// overhead is the server's count for instructions and tools, in tokens. It is larger than the whole
// conversation.
const overhead = 20_000

// onReport sets a trigger that fires by the server's counts, and never by the estimate of the
// conversation itself.
func onReport(cfg *compaction.Config) {
	cfg.InvocationThreshold = compaction.Off
	cfg.TokenThreshold = overhead + 1500
}

// One turn has forty tool rounds. Only the reported prompt size can trigger the compactions during
// the turn.
func TestToolLoopIsCompactedByWhatTheServerReports(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name     string
		mode     agent.StreamingMode
		ids      bool
		parallel int
	}{
		{name: "one by one", mode: agent.StreamingModeNone, parallel: 1},
		{name: "three at once", mode: agent.StreamingModeNone, parallel: 3},
		{name: "streamed, with call IDs", mode: agent.StreamingModeSSE, ids: true, parallel: 1},
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
				t.Errorf("%d compactions during the turn, want several:\n%s", live, a.log)
			}
			a.chat(8)
			a.verify(3)
			a.checkBound(t)
		})
	}
}

// checkBound checks that prompts exceeded the threshold, but not by much.
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

// This is the counterpart: the same turn without usage metadata does not compact, so the reports
// triggered the compactions.
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
		t.Errorf("%d summaries were requested", n)
	}
}
