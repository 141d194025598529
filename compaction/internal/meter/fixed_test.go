package meter

import (
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
)

// TestTheLatestKnowledgeOfTheFixedPartCounts follows the example in fixed.go.
func TestTheLatestKnowledgeOfTheFixedPartCounts(t *testing.T) {
	t.Parallel()
	says := 0
	s := NewSession(limits(), &learned.Facts{}, func(agent, branch string) int {
		if agent != "bot" || branch != "" {
			return 0
		}
		return says
	})
	h := (&ct.History{}).User("inv1", strings.Repeat("word ", 400))
	v := view.New(h.Events)
	m := New(v, s)
	estimate := 0
	for _, ev := range h.Events {
		estimate += promptsize.OfEvent(ev)
	}
	check := func(when string, want int) {
		t.Helper()
		if got := m.Prompt("").Likely; got != want {
			t.Errorf("%s: %d tokens, want %d", when, got, want)
		}
		if got := New(v, s).Prompt("").Likely; got != want {
			t.Errorf("%s: a new handle has %d tokens, want %d", when, got, want)
		}
	}
	says = 2_000
	check("nobody is expected", estimate)
	s.Expect("bot", "")
	check("the agent is expected", estimate+2_000)
	s.Requested("", "bot", estimate, 2_400, 0)
	check("a request was measured", estimate+2_400)
	says = 3_000
	check("Fixed has changed since", estimate+3_000)
	says = 2_000
	check("... and is what it was", estimate+2_400)

	answer := counted(h.Agent("inv1", "bot", "It is done.").Last(), 3_100)
	v.Append(answer)
	count := 3_100 + promptsize.OfEvent(answer)
	check("a count", count)
	says = 2_900
	check("a tool was added", count+2_900-2_400)
	says = 1_400
	check("tools were taken away", count+1_400-2_400)
	says = 0
	check("Fixed does not know", count)
	s.Requested("", "bot", estimate, 2_600, 0)
	check("a request was measured after the count", count+200)
	next := counted(h.Agent("inv1", "bot", "Really.").Last(), 3_500)
	v.Append(next)
	check("its count", 3_500+promptsize.OfEvent(next))
}

func TestTheFixedPartOfAnAgentThatHasSpokenIsCountedAfterARestart(t *testing.T) {
	t.Parallel()
	says := func(agent, branch string) int { return map[string]int{"bot": 500, "helper": 900}[agent] }
	h := (&ct.History{}).User("inv1", "Go on.").Agent("inv1", "bot", "Done.").Agent("inv1", "helper", "Done too.")
	size := 0
	for _, ev := range h.Events {
		size += promptsize.OfEvent(ev)
	}
	m := New(view.New(h.Events), NewSession(limits(), &learned.Facts{}, says))
	if got := m.Prompt("").Likely; got != size+900 {
		t.Errorf("%d tokens, want %d: the largest prompt of an agent that speaks here", got, size+900)
	}
	// A count of one agent says nothing about another agent's fixed part.
	ev := counted(h.Agent("inv1", "bot", "Yes.").Last(), 600)
	m = New(view.New(append([]*session.Event(nil), h.Events...)), NewSession(limits(), &learned.Facts{}, says))
	if got, want := m.Prompt("").Likely, size+promptsize.OfEvent(ev)+900; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
}

func TestAFixedFunctionThatPanicsDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, fixed := range map[string]Fixed{
		"nil":      nil,
		"panics":   func(string, string) int { panic("boom") },
		"negative": func(string, string) int { return -7_000 },
	} {
		h := (&ct.History{}).User("inv1", "Go on.").Agent("inv1", "bot", "Done.")
		m := New(view.New(h.Events), NewSession(limits(), &learned.Facts{}, fixed))
		want := promptsize.OfEvent(h.Events[0]) + promptsize.OfEvent(h.Events[1])
		if got := m.Prompt("").Likely; got != want {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
	}
}
