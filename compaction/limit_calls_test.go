package compaction_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// exact counts as the estimate does.
var exact = provider{ratio: 1}

// TestLongResultsThatStayRawDoNotFillThePrompt: ten results of 2,000 tokens are more than the window, so a compaction
// that leaves them raw is followed by another one after each round, or by the hard limit.
func TestLongResultsThatStayRawDoNotFillThePrompt(t *testing.T) {
	t.Parallel()
	const rounds = 60
	played := func(retainTokens int) (calls, smallest, largest int) {
		cfg, oracle := oracleConfig()
		cfg.InvocationThreshold, cfg.ContextWindow, cfg.MaxOutputTokens = compaction.Off, 16_000, compaction.Off
		cfg.RetainTokens = retainTokens
		svc := newService(t, session.InMemoryService(), cfg)
		l := newLoop(t, svc, exact)
		smallest = 16_000
		for range rounds {
			before := len(oracle.Requests())
			l.round(2000)
			got := status(t, svc)
			largest = max(largest, got.PromptTokens)
			if len(oracle.Requests()) > before {
				smallest = min(smallest, got.PromptTokens)
			}
		}
		l.check()
		return len(oracle.Requests()), smallest, largest
	}
	calls, smallest, largest := played(0)
	unbounded, _, reached := played(compaction.Off)
	if largest >= reached || calls >= unbounded || smallest > 8_000 {
		t.Errorf("%d summaries, prompts of %d to %d tokens; without a bound %d summaries, and up to %d tokens", calls, smallest, largest, unbounded, reached)
	}
	if _, one, _ := played(1); one >= smallest {
		t.Errorf("a compaction that leaves one event raw leaves %d tokens, one that leaves half of the threshold %d", one, smallest)
	}
}

// TestOneCompactionAtTheHardLimitIsNotFollowedByOneForEveryEvent: the retained events alone are over the
// threshold, so only the hard limit lets go of any.
func TestOneCompactionAtTheHardLimitIsNotFollowedByOneForEveryEvent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{2800, 3500} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			const rounds = 60
			cfg, oracle := oracleConfig()
			cfg.InvocationThreshold, cfg.ContextWindow, cfg.MaxOutputTokens = compaction.Off, 16_000, compaction.Off
			cfg.RetainTokens = compaction.Off
			svc := newService(t, session.InMemoryService(), cfg)
			l := newLoop(t, svc, exact)
			calls, forced, before := 0, 0, 0
			l.appended = func() {
				got := status(t, svc)
				if n := len(oracle.Requests()); n > calls && before+estimateOf(l.history.Last()) > got.HardLimit {
					calls = n
					forced++
					if got.PromptTokens > got.TokenThreshold {
						t.Errorf("%s: a compaction at the hard limit left %d tokens, the threshold is %d",
							l.history.Last().ID, got.PromptTokens, got.TokenThreshold)
					}
				}
				calls, before = len(oracle.Requests()), got.PromptTokens
			}
			for range rounds {
				l.round(size)
			}
			if forced < 5 {
				t.Fatalf("%d compactions at the hard limit: the test shows nothing", forced)
			}
			if calls > rounds*2/3 {
				t.Errorf("%d summaries for %d rounds", calls, rounds)
			}
			if l.largest > cfg.ContextWindow {
				t.Errorf("a prompt of %d tokens went out, the window is %d", l.largest, cfg.ContextWindow)
			}
			l.check()
		})
	}
}

// TestALookThatFoundNothingDoesNotHoldBackTheNextOneOnceThePromptIsSmaller: also where the prompt is still
// over the threshold.
func TestALookThatFoundNothingDoesNotHoldBackTheNextOneOnceThePromptIsSmaller(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.TokenThreshold, cfg.Observer = compaction.Off, 1_000_000, 1_000, seen.Observe
	var pinned atomic.Int32 // as many turns are
	pinned.Store(100)
	cfg.Pin = func(ev *session.Event) bool {
		var turn int32
		_, err := fmt.Sscanf(ev.InvocationID, "inv%d", &turn)
		return err == nil && turn <= pinned.Load()
	}
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(110, "agent")
	appendAll(t, svc, sess, h.Events[:200]...)
	atRest := status(t, svc)
	if len(seen.of(compaction.Declined)) == 0 || len(oracle.Requests()) > 0 {
		t.Fatal("there was something to summarize: the test shows nothing")
	}
	pinned.Store(40)
	compact(t, svc, compaction.CompactOptions{})
	pinned.Store(0)
	got := status(t, svc)
	if got.PromptTokens < got.TokenThreshold || got.PromptTokens > atRest.PromptTokens*3/4 {
		t.Fatalf("%d tokens became %d, the threshold is %d: the test shows nothing", atRest.PromptTokens, got.PromptTokens, got.TokenThreshold)
	}
	before := len(oracle.Requests())
	appendAll(t, svc, sess, h.Events[200:]...)
	if len(oracle.Requests()) == before {
		t.Errorf("nobody looked at a prompt of %d tokens with a threshold of %d", got.PromptTokens, got.TokenThreshold)
	}
}
