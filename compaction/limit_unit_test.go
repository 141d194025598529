package compaction_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// TestAUnitOverTheWindowIsSummarizedWithTheNextEvent: it stays raw while it is the newest, and no longer,
// even where the next event is small.
func TestAUnitOverTheWindowIsSummarizedWithTheNextEvent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 50, 400} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			cfg, oracle := oracleConfig()
			cfg.InvocationThreshold, cfg.ContextWindow = compaction.Off, 16_000
			svc := newService(t, session.InMemoryService(), cfg)
			l := newLoop(t, svc, exact)
			l.round(20_000)
			if got := status(t, svc); got.PromptTokens < got.HardLimit || len(oracle.Requests()) > 0 {
				t.Fatalf("a prompt of %d tokens, %d summaries: the test shows nothing", got.PromptTokens, len(oracle.Requests()))
			}
			l.round(size)
			wantPromptBelow(t, svc, status(t, svc).HardLimit)
			l.check()
		})
	}
}

// held is a loop in a window of 16,000 tokens whose first result, of so many, must stay.
type held struct {
	*loop
	pinned atomic.Bool
	seen   notes
}

func newHeld(t *testing.T, writer compaction.Summarizer, size int) *held {
	t.Helper()
	u := &held{}
	u.pinned.Store(true)
	cfg, _ := oracleConfig()
	cfg.Summarizer, cfg.Observer = writer, u.seen.Observe
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.MaxOutputTokens = compaction.Off, 16_000, compaction.Off
	cfg.Pin = func(ev *session.Event) bool {
		return u.pinned.Load() && slices.Contains(histories.FactsIn(ev), compactiontest.Fact(1))
	}
	u.loop = newLoop(t, newService(t, session.InMemoryService(), cfg), exact)
	u.round(size)
	return u
}

// stored counts the summaries that were stored of windows, and those that were made of summaries.
func (u *held) stored() (windows, merges int) {
	for _, o := range u.seen.of(compaction.Stored) {
		if o.Trigger == record.TriggerMerge {
			merges++
		} else {
			windows++
		}
	}
	return windows, merges
}

// TestAUnitOverTheWindowThatMustStayIsNotACallForEveryEvent: no summary can help, so few are paid for. The
// turn goes on, and when the unit may be summarized it is.
func TestAUnitOverTheWindowThatMustStayIsNotACallForEveryEvent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 50, 200, 400} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			const rounds = 60
			oracle := &compactiontest.Oracle{}
			u := newHeld(t, oracle, 20_000)
			for range rounds {
				u.round(size)
			}
			if got := status(t, u.svc); got.PromptTokens < got.HardLimit || len(u.seen.of(compaction.Declined)) == 0 {
				t.Fatalf("a prompt of %d tokens, %d looks in vain: the test shows nothing", got.PromptTokens, len(u.seen.of(compaction.Declined)))
			}
			if calls := len(oracle.Requests()); calls > rounds/3 {
				t.Errorf("%d summaries for %d rounds, and none could help", calls, rounds)
			}
			u.pinned.Store(false)
			u.round(200)
			wantPromptBelow(t, u.svc, status(t, u.svc).HardLimit)
			u.check()
		})
	}
}

// TestAUnitThatNearlyFillsTheWindowLeavesRoomForTheTurn: whatever else there is becomes a few words, also
// where the model does not keep to what it is asked.
func TestAUnitThatNearlyFillsTheWindowLeavesRoomForTheTurn(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 100, 400} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			u := newHeld(t, &padded{}, 15_300)
			for range 60 {
				u.round(size)
			}
			if u.largest > 16_000 {
				t.Errorf("a prompt of %d tokens went out, the window is 16000", u.largest)
			}
			if windows, merges := u.stored(); windows == 0 || merges == 0 {
				t.Errorf("%d summaries, %d merges: the test shows nothing", windows, merges)
			}
			checkView(t, u.svc)
		})
	}
}

// TestWhatIsCutForOnePromptComesBack: a unit that nearly fills the window leaves a few words of all else. Once it is
// summarized, the summaries are shown again as they were, and no model is asked for that.
func TestWhatIsCutForOnePromptComesBack(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	var seen notes
	var pinned atomic.Bool
	cfg.Observer, cfg.InvocationThreshold, cfg.ContextWindow, cfg.MaxOutputTokens = seen.Observe, compaction.Off, 16_000, compaction.Off
	cfg.MaxSummaryTokens, cfg.RetainEvents = 2000, 2
	cfg.Pin = func(ev *session.Event) bool {
		return pinned.Load() && slices.Contains(histories.FactsIn(ev), compactiontest.Fact(201))
	}
	l := newLoop(t, newService(t, session.InMemoryService(), cfg), exact)
	for range 200 {
		l.round(100)
	}
	before := len(visibleFacts(eventsOf(l.sess)))
	pinned.Store(true)
	l.round(15_200)
	l.round(10)
	cut := len(visibleFacts(eventsOf(l.sess)))
	if before != 200 || cut > 100 {
		t.Fatalf("%d facts were known, and %d after the cut: the test shows nothing", before, cut)
	}
	if l.largest > 16_000 {
		t.Errorf("a prompt of %d tokens went out, the window is 16000", l.largest)
	}
	pinned.Store(false)
	l.round(400)
	if err := l.svc.Flush(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	l.check()
	back := 0
	for _, o := range seen.of(compaction.Stored) {
		if o.TokensAfter > o.TokensBefore {
			back++
			if o.Usage.PromptTokens > 0 || o.Trigger != record.TriggerMerge {
				t.Errorf("a summary came back by %+v", o)
			}
		}
	}
	if back == 0 {
		t.Errorf("no summary came back; %d requests", len(oracle.Requests()))
	}
}

// TestSummariesAreNotCutWhereThePromptOnlyMayBeTooLong: after every compaction all of it is estimated, and
// the next report would tell that there was no need.
func TestSummariesAreNotCutWhereThePromptOnlyMayBeTooLong(t *testing.T) {
	t.Parallel()
	u := newHeld(t, &padded{}, 14_500)
	for range 60 {
		u.round(200)
	}
	if windows, merges := u.stored(); windows < 10 || merges > windows {
		t.Errorf("%d merges for %d summaries", merges, windows)
	}
	if u.largest > 16_000 {
		t.Errorf("a prompt of %d tokens went out, the window is 16000", u.largest)
	}
	u.check()
}
