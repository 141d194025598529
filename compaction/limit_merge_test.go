package compaction_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// padded is an oracle whose summaries are as long as they may be, as a model's are.
type padded struct{ compactiontest.Oracle }

func (p *padded) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	result, err := p.Oracle.Summarize(ctx, req)
	if err != nil {
		return result, err
	}
	text := result.Content.Parts[0].Text
	return prose(text + " " + words(max(0, req.MaxTokens-result.Usage.OutputTokens-10))), nil
}

// crowded is a session with a window of 8,000 tokens that shows summaries of the facts 1 to 20. What is said
// in invocations named "keep…" stays raw.
type crowded struct {
	t       *testing.T
	svc     *compaction.CompactionSessionService
	sess    session.Session
	history compactiontest.History
	seen    notes
}

func newCrowded(t *testing.T, writer compaction.Summarizer) *crowded {
	t.Helper()
	c := &crowded{t: t}
	cfg, _ := oracleConfig()
	cfg.Summarizer, cfg.Observer = writer, c.seen.Observe
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.MaxSummaries, cfg.RetainEvents = compaction.Off, 8000, 8, 1
	cfg.Pin = func(ev *session.Event) bool { return strings.HasPrefix(ev.InvocationID, "keep") }
	c.svc = newService(t, session.InMemoryService(), cfg)
	c.sess = create(t, c.svc)
	for i := 1; i <= 20; i++ {
		c.turn(fmt.Sprint("inv", i), compactiontest.Fact(i)+" "+words(150), words(150))
		if i%5 == 0 {
			compact(t, c.svc, compaction.CompactOptions{KeepRecent: 1})
		}
	}
	c.turn("keep", "Thank you.", "You are welcome.")
	compact(t, c.svc, compaction.CompactOptions{KeepRecent: 1})
	if got := status(t, c.svc); len(got.Summaries) != 5 || c.merges() > 0 {
		t.Fatalf("%d summaries, %d merges before the limit: the test shows nothing", len(got.Summaries), c.merges())
	}
	return c
}

func (c *crowded) turn(invocation, question, answer string) {
	c.t.Helper()
	c.history.Turn(invocation, "agent", question, answer)
	appendAll(c.t, c.svc, c.sess, c.history.Events[len(c.history.Events)-2:]...)
}

// fill appends a message that must stay and that brings the prompt so many tokens over what is safe: the
// hard limit less a tenth, because all of it is estimated.
func (c *crowded) fill(over int) {
	c.t.Helper()
	got := status(c.t, c.svc)
	c.history.User("keep it", words(got.HardLimit*10/11-got.PromptTokens+over))
	appendAll(c.t, c.svc, c.sess, c.history.Last())
}

func (c *crowded) merges() int {
	n := 0
	for _, o := range c.seen.of(compaction.Stored) {
		if o.Trigger == record.TriggerMerge {
			n++
		}
	}
	return n
}

// told is what the observer was told, one line each.
func (c *crowded) told() string {
	var b strings.Builder
	for _, o := range c.seen.all() {
		fmt.Fprintln(&b, o.Outcome, o.Trigger, o.TokensBefore, o.TokensAfter, o.Reason, o.Err)
	}
	return b.String()
}

func (c *crowded) check() {
	c.t.Helper()
	wantPromptBelow(c.t, c.svc, status(c.t, c.svc).HardLimit*10/11+1)
	wantFacts(c.t, eventsOf(c.sess), 20)
	wantOnce(c.t, c.svc, c.history.Events)
	wantCoveredOnce(c.t, c.svc)
	checkView(c.t, c.svc)
}

// TestSummariesAreMergedUntilThePromptFitsAndNoFurther: nothing else can be made shorter.
func TestSummariesAreMergedUntilThePromptFitsAndNoFurther(t *testing.T) {
	t.Parallel()
	for over, want := range map[int]int{-100: 0, 200: 1, 500: 2, 800: 3} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			t.Parallel()
			c := newCrowded(t, &padded{})
			c.fill(over)
			if got := c.merges(); got != want {
				t.Errorf("%d merges, want %d:\n%s", got, want, c.told())
			}
			c.check()
		})
	}
}

// TestSummariesAreNotMergedWhileThereIsSomethingElse: what was merged is told less exactly.
func TestSummariesAreNotMergedWhileThereIsSomethingElse(t *testing.T) {
	t.Parallel()
	c := newCrowded(t, &padded{})
	c.turn("spare", words(800), words(100))
	c.fill(200)
	if got := status(t, c.svc); c.merges() > 0 || len(got.Summaries) != 6 {
		t.Errorf("%d merges, %d summaries, want none and one more:\n%s", c.merges(), len(got.Summaries), c.told())
	}
	c.check()
}

// TestSummariesAreMergedForTheReaderWhosePromptIsOverTheLimit: another one is over the threshold alone, and
// nothing can be done for it.
func TestSummariesAreMergedForTheReaderWhosePromptIsOverTheLimit(t *testing.T) {
	t.Parallel()
	c := newCrowded(t, &padded{})
	for _, branch := range []string{"worker1", "worker2"} {
		c.history.Branch(branch).Agent("keep them", branch, words(300))
		appendAll(t, c.svc, c.sess, c.history.Last())
	}
	c.history.Branch("")
	c.fill(100)
	if c.merges() != 1 {
		t.Errorf("%d merges, want 1:\n%s", c.merges(), c.told())
	}
	c.check()
}

// TestAtTheHardLimitSummariesAreMergedWithoutTheModelIfItFails: or the session would end there.
func TestAtTheHardLimitSummariesAreMergedWithoutTheModelIfItFails(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	var writer padded
	c := newCrowded(t, summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		if fails.Load() {
			return summarizer.Result{}, errBoom
		}
		return writer.Summarize(ctx, req)
	}))
	fails.Store(true)
	c.fill(500)
	if c.merges() == 0 || len(c.seen.of(compaction.Failed)) == 0 {
		t.Errorf("%d merges, %d failures:\n%s", c.merges(), len(c.seen.of(compaction.Failed)), c.told())
	}
	wantPromptBelow(t, c.svc, status(t, c.svc).HardLimit*10/11+1)
	checkView(t, c.svc)
}

// TestSummariesAreCutToASentenceIfThePromptThenFits: their frames count too. Five of them take some 240
// tokens, and one is left. The tenth of the window that is reserved for the reply by default is given up
// before the session is: a provider refuses what exceeds the window, and nothing less.
func TestSummariesAreCutToASentenceIfThePromptThenFits(t *testing.T) {
	t.Parallel()
	for _, over := range []int{1_500, 2_450, 2_700, 2_800} {
		t.Run(fmt.Sprint(over), func(t *testing.T) {
			t.Parallel()
			c := newCrowded(t, &padded{})
			c.fill(over)
			if got := status(t, c.svc); got.PromptTokens > 8_000 || len(got.Summaries) != 1 {
				t.Errorf("a prompt of %d tokens with %d summaries, want it in the window of 8,000:\n%s", got.PromptTokens, len(got.Summaries), c.told())
			}
			wantOnce(t, c.svc, c.history.Events)
			checkView(t, c.svc)
		})
	}
}

// TestSummariesAreLeftAloneWhereThePromptCannotFitWithoutThem: what they tell would be lost for nothing.
func TestSummariesAreLeftAloneWhereThePromptCannotFitWithoutThem(t *testing.T) {
	t.Parallel()
	for _, over := range []int{3_450, 3_700, 4_000, 20_000} { // the summaries take some 1,600 tokens with their frames
		t.Run(fmt.Sprint(over), func(t *testing.T) {
			t.Parallel()
			c := newCrowded(t, &padded{})
			before := len(status(t, c.svc).Summaries)
			c.fill(over)
			if got := status(t, c.svc); got.PromptTokens < 8_000 || c.merges() > 0 || len(got.Summaries) != before {
				t.Errorf("a prompt of %d tokens; %d merges, %d of %d summaries left", got.PromptTokens, c.merges(), len(got.Summaries), before)
			}
		})
	}
}
