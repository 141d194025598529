package meter

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// limits are those of a window of 10,000 tokens with the token trigger at 7,000.
func limits() *Limits {
	c := Config{ContextWindow: 10_000, MaxOutputTokens: -1, SafetyRatio: 0.7, BlockRatio: 0.98, MaxSummaries: 5, MaxSummaryTokens: 500}
	return c.Limits("model")
}

func newSession() *Session { return NewSession(limits(), &learned.Facts{}, nil) }

// counted gives an event the provider's count of the prompt behind it.
func counted(ev *session.Event, prompt int32) *session.Event {
	ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: int32(promptsize.OfEvent(ev))}
	return ev
}

func TestBranchesAreFoundAsTheViewGrows(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(2, "bot").Branch("a").Agent("inv2", "a", "x")
	v := view.New(h.Events)
	m := New(v, newSession())
	want := func(want int) {
		t.Helper()
		if got := m.Branches(); len(got) != want || got[0] != "" {
			t.Errorf("branches %q, want %d", got, want)
		}
	}
	want(2)
	v.Append((&ct.History{}).Branch("b").Agent("inv2", "b", "y").Last())
	want(3)
	v.AppendRecord(h.Record("s", "e5"))
	want(3)
	want(3)
}

// What came after a count is added to it, and a count of a prompt that was built from an older view
// is not that of the next prompt.
func TestAPromptIsTheLastCountAndWhatCameAfter(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(1, "bot")
	v := view.New(h.Events)
	s := newSession()
	m := New(v, s)
	estimate := func() (sum int) {
		for ev := range v.Events().All() {
			sum += promptsize.OfEvent(ev)
		}
		return sum
	}
	check := func(when string, want int) {
		t.Helper()
		if got := m.Prompt("").Likely; got != want {
			t.Errorf("%s: %d tokens, want %d", when, got, want)
		}
	}
	check("nothing is counted", estimate())
	answer := counted(h.Agent("inv1", "bot", "It is done.").Last(), 5_000)
	v.Append(answer)
	check("a count", 5_000+promptsize.OfEvent(answer))
	question := h.User("inv2", "And now?").Last()
	v.Append(question)
	check("a count and a question", 5_000+promptsize.OfEvent(answer)+promptsize.OfEvent(question))
	late := counted(h.Agent("inv2", "bot", "Done.").Last(), 9_000)
	s.learned.Events.MarkStale(late)
	v.Append(late)
	check("a stale count", 5_000+promptsize.OfEvent(answer)+promptsize.OfEvent(question)+promptsize.OfEvent(late))
}

// A request that an app has shortened is expected to be shortened again.
func TestARequestSaysHowMuchOfTheViewIsSent(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("inv1", strings.Repeat("word ", 400))
	v := view.New(h.Events)
	s := newSession()
	if s.Requested("", "bot", 100, 50, 0) {
		t.Error("a request was noted for a view that nobody has measured")
	}
	m := New(v, s)
	m.Prompt("")
	if !s.Requested("", "bot", 100, 50, 0) || !s.WorthKeeping() {
		t.Error("the request was not noted")
	}
	if got := m.Prompt("").Likely; got != 150 {
		t.Errorf("%d tokens, want the 100 that were left and the 50 that are fixed", got)
	}
	next := h.Agent("inv1", "bot", "Yes.").Last()
	v.Append(next)
	if got, want := m.Prompt("").Likely, 150+promptsize.OfEvent(next); got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
}

// A compaction of one branch says nothing about what agents in its siblings report.
func TestCountsAreLearnedOnce(t *testing.T) {
	t.Parallel()
	h := &ct.History{}
	say := func(branch, author string, prompt int32) {
		h.Branch(branch).Agent("inv1", author, strings.Repeat("word ", 100))
		if prompt > 0 {
			counted(h.Last(), prompt)
		}
	}
	say("y", "y", 1_000)
	say("y", "y", 1_150)
	say("x", "x", 0)
	s := newSession()
	m := New(view.New(h.Events), s)
	for range 3 {
		m.Learn("x")
	}
	if s.WorthKeeping() {
		t.Errorf("compactions of branch x taught %+v about its sibling", s.fits)
	}
	m.Learn("y")
	if got := s.fits["y"]["y"].Weight(); got != 2 {
		t.Errorf("%v counts are known, want 2", got)
	}
}

func TestAnAgentThatHasGoneIsForgotten(t *testing.T) {
	t.Parallel()
	s := newSession()
	learn := func(author string) {
		h := (&ct.History{}).User("inv1", "Go on.").Agent("inv1", author, "Done.")
		counted(h.Last(), 1_000)
		New(view.New(h.Events), s).Learn("")
	}
	learn("gone")
	for n := range maxSilent {
		learn("here")
		if _, known := s.fits[""]["gone"]; !known {
			t.Fatalf("forgotten after %d compactions, want %d", n+1, maxSilent+1)
		}
	}
	learn("here")
	if _, known := s.fits[""]["gone"]; known {
		t.Errorf("still known after %d compactions without a report", maxSilent+1)
	}
}

func TestACountThatCannotBeRightIsReportedOnce(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("inv1", strings.Repeat("word ", 2_000))
	v := view.New(h.Events)
	m := New(v, newSession())
	type doubt struct {
		prompt        int32
		news, tooHigh bool
	}
	doubts := []doubt{{20_000, true, true}, {30_000, false, false}, {12, true, false}, {12, false, false}}
	for range countsToClear {
		doubts = append(doubts, doubt{3_000, false, false})
	}
	for n, r := range append(doubts, doubt{20_000, true, true}) {
		ev := counted(h.Agent("inv1", "bot", "Yes.").Last(), r.prompt)
		v.Append(ev)
		got, news := m.Doubt(ev, adk.Classify(ev))
		if news != r.news || got.TooHigh != r.tooHigh || news && got.Counted != int(r.prompt) {
			t.Errorf("count %d of %d tokens: %+v, news %t; want news %t, too high %t", n, r.prompt, got, news, r.news, r.tooHigh)
		}
	}
}

// A count belongs to the present view if its event was stored behind the newest summary, whatever the clocks of the
// processes say that summarized and that asked the model.
func TestCountsAreOfTheViewThatStorageSays(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		before, after time.Duration // how far the clocks of those that ask are ahead of the one that summarizes
		want          int
	}{
		"one clock":                    {0, 0, 3_000},
		"the later one ten min behind": {0, -10 * time.Minute, 3_000},
		"both ten minutes behind":      {-10 * time.Minute, -10 * time.Minute, 3_000},
		"both ten minutes ahead":       {10 * time.Minute, 10 * time.Minute, 3_000},
	} {
		for _, recounted := range []bool{true, false} {
			h := (&ct.History{}).Turns(2, "bot")
			counted(h.Last(), 9_000)
			h.Compact("s", "e1", "e2")
			h.Agent("inv2", "bot", "And so on.")
			if recounted {
				counted(h.Last(), 3_000)
			}
			for i, ev := range h.Events {
				shift := of.before
				if i > 4 {
					shift = of.after
				}
				if !record.Is(ev) {
					ev.Timestamp = ev.Timestamp.Add(shift)
				}
			}
			got := New(view.New(h.Events), newSession()).Prompt("").Likely
			answer := promptsize.OfEvent(h.Last())
			if recounted && got != of.want+answer {
				t.Errorf("%s: %d tokens, want the count of %d and the answer", name, got, of.want)
			}
			if !recounted && got > 1_000 {
				t.Errorf("%s: %d tokens; the count of 9,000 is from before the summary", name, got)
			}
		}
	}
}

// A database orders events by time, and a record has the time of the newest event when it was stored: either may come
// first.
func TestACountOfTheRecordsTimeIsFromBeforeIt(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(2, "bot")
	answer := counted(h.Last(), 9_000)
	summary := h.Record("s", "e1", "e2")
	if !summary.Timestamp.Equal(answer.Timestamp) {
		t.Fatal("the record has a time of its own")
	}
	events := h.Events[:3:3]
	events = append(events, summary, answer)
	if got := New(view.New(events), newSession()).Prompt("").Likely; got > 1_000 {
		t.Errorf("%d tokens; the count of 9,000 is from before the summary", got)
	}
}

// Only a summary that a branch is shown changes its prompts.
func TestARecordThatIsNotShownMakesNoCountOld(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Branch("fan.a").Turns(2, "bot").Compact("s", "e1", "e2").Agent("inv2", "bot", "And so on.")
	counted(h.Last(), 3_000)
	h.Compact("beside", "e1", "e2").Amend(func(m *record.Metadata) { m.CreatedAt = histories.Epoch })
	h.Branch("fan.b").Turns(2, "bot").Compact("elsewhere", "e8", "e9")
	v := view.New(h.Events)
	if len(v.Current()) != 2 {
		t.Fatalf("%d summaries are shown, want one of each branch", len(v.Current()))
	}
	if got := New(v, newSession()).Prompt("fan.a").Likely; got < 3_000 {
		t.Errorf("%d tokens; the count of 3,000 is of the present view", got)
	}
}
