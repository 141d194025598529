package meter

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
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
		got, news := m.Doubt(ev)
		if news != r.news || got.TooHigh != r.tooHigh || news && got.Counted != int(r.prompt) {
			t.Errorf("count %d of %d tokens: %+v, news %t; want news %t, too high %t", n, r.prompt, got, news, r.news, r.tooHigh)
		}
	}
}
