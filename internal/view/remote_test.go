package view_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// remote gives events, by number, the metadata that ADK gives those of a remote agent.
func remote(h *ct.History, numbers ...int) *ct.History {
	for _, n := range numbers {
		h.Events[n-1].CustomMetadata = map[string]any{"a2a:context_id": "far"}
	}
	return h
}

// handed is six turns, of which the first and the third were handed over to a remote agent: e2, e6.
func handed() *ct.History { return remote(turns(6), 2, 6) }

// ADK sends a remote agent what stands behind its newest event: a summary in front of that would never
// reach it.
func TestRemoteAgentIsToldWhatWasSummarizedSinceItSpoke(t *testing.T) {
	t.Parallel()
	ends := func(n int, more time.Duration) func(*record.Metadata) {
		return func(m *record.Metadata) { m.EndTimestamp = at(n).Add(more) }
	}
	late := func(n int) *ct.History {
		h := handed().Compact("s1", "e1", "e3", "e4", "e5").Compact("s2", "e7", "e8").Agent("x", "far", "a")
		h.Last().Timestamp = at(n)
		return remote(h, 15)
	}
	calling := func() *ct.History {
		h := turns(2).User("j", "q").Call("j", "far", "t", "c").Response("j", "far", "t", "r", "c")
		return remote(after(h), 6, 7)
	}
	answered := func() *ct.History { // e4 answers e2, and the remote agent speaks in e6
		h := h().User("i", "q").LongCall("i", "bot", "t", "c").Agent("i", "bot", "a").Response("j", "user", "t", "r", "c").
			User("k", "q").Agent("k", "far", "a").Turns(2, "bot")
		return remote(h, 6)
	}
	run(t, []row{
		{"an answer of the user is not sent to it twice", answered().Compact("s", "e1", "e3", "e7", "e8"), "s e2 e4 e5 e6 e9 e10"},
		{"until the answer is summarized", answered().Compact("s", "e1", "e3", "e7", "e8").Compact("s2", "e2", "e4", "e5"), "e6 s s2 e9 e10"},
		{"nothing summarized", handed(), "e1 e2 e3 e4 e5 e6 e7 e8 e9 e10 e11 e12"},
		{"only what it knew", handed().Compact("s", "e1", "e3", "e4", "e5"), "e2 s e6 e7 e8 e9 e10 e11 e12"},
		{"what came later", handed().Compact("s", "e7", "e8"), "e2 e6 s e1 e3 e4 e5 e9 e10 e11 e12"},
		{"both, in two summaries", handed().Compact("s1", "e1", "e3", "e4", "e5").Compact("s2", "e7", "e8"), "e2 s1 e6 s2 e9 e10 e11 e12"},
		{"both, in one", handed().Compact("s", "e1", "e3", "e4", "e5", "e7", "e8"), "e2 e6 s e9 e10 e11 e12"},
		{"both, merged", handed().Compact("s1", "e1", "e3", "e4", "e5").Compact("s2", "e7", "e8").Merge("m", "s1", "s2"), "e2 e6 m e9 e10 e11 e12"},
		{"its words are summarized too", handed().Compact("s", "e1", "e2", "e3", "e4", "e5", "e7", "e8"), "e6 s e9 e10 e11 e12"},
		{"a summary that ends at its time tells nothing later", handed().Compact("s", "e1").Amend(ends(2, 999*time.Nanosecond)), "s e2 e3 e4 e5 e6 e7 e8 e9 e10 e11 e12"},
		{"one that ends a microsecond later does", handed().Compact("s", "e1").Amend(ends(2, time.Microsecond)), "e2 s e3 e4 e5 e6 e7 e8 e9 e10 e11 e12"},
		{"what it says next changes nothing", late(15), "e2 s1 e6 s2 e9 e10 e11 e12 e15"},
		{"unless its clock is late", late(7), "e2 s1 e6 e15 s2 e9 e10 e11 e12"},
		{"calls and responses stay with each other", calling().Compact("s", "e8", "e9"), "s e1 e2 e3 e4 e5 e6 e7 e10 e11"},
		{"a message of the user stays the newest", remote(turns(3).User("j", "q"), 7).Compact("s", "e1", "e2").Amend(ends(9, 0)), "s e3 e4 e5 e6 e7"},
	})
}

// A summary of tool rounds is bound to its place, and so it does not follow the event that it stands
// behind: ADK may begin a prompt at a user's event between the two.
func TestSummaryOfRoundsStaysWhereARemoteAgentSpoke(t *testing.T) {
	t.Parallel()
	over := func() *ct.History {
		h := h().Turn("i", "bot", "q", "a").User("j", "q").Agent("j", "far", "a").
			Call("j", "bot", "t", "c").Response("j", "bot", "t", "r", "c").Agent("j", "bot", "a").Agent("j", "critic", "a").Agent("j", "bot", "a")
		return remote(h, 4).Compact("s", "e5", "e6").Amend(standing("bot", h.Events[3]))
	}
	run(t, []row{
		{"nothing in front", over(), "e1 e2 e3 e4 s e7 e8 e9"},
		{"the past in front", over().Compact("f", "e1", "e2"), "f e3 e4 s e7 e8 e9"},
		{"later words in front", over().Compact("f", "e1", "e2", "e7"), "e4 f e3 s e8 e9"},
	})
}

// TestWordsOfRemoteAgentsAreWhereTheRulesSay compares views of histories in which nearly every agent is
// far away with a plain reading of the rules, made at once and grown event by event.
func TestWordsOfRemoteAgentsAreWhereTheRulesSay(t *testing.T) {
	t.Parallel()
	moved, redone := 0, 0
	testkit.CheckUntil(t, 2, func(t *rapid.T) {
		pick := func(k int) int { return rapid.IntRange(0, k-1).Draw(t, "pick") }
		events := histories.Generate(pick(40), pick)
		for _, ev := range events {
			if ev != nil && !record.Is(ev) && pick(3) > 0 {
				ev.CustomMetadata = map[string]any{"a2a:task_id": "task"}
			}
		}
		holds(t, events)
		grows(t, events)
		moved += len(inFrontOfSummaries(events))
		for i, ev := range events {
			if ev != nil && slices.Contains(inFrontOfSummaries(events[:i+1]), ev) {
				redone++
			}
		}
	}, func() error {
		if moved < enough(50) || redone < enough(50) {
			return fmt.Errorf("%d events stand in front of summaries, %d from the start", moved, redone)
		}
		return nil
	})
}

// inFrontOfSummaries returns the stored events that a view shows in front of a summary in front.
func inFrontOfSummaries(events []*session.Event) []*session.Event {
	var out []*session.Event
	shown := oracle.View(events)
	for i := len(shown) - 1; i >= 0; i-- {
		summary := func(s oracle.Shown) bool { return s.Record != nil && !s.Standing }
		if shown[i].Event != nil && slices.ContainsFunc(shown[i:], summary) {
			out = append(out, shown[i].Event)
		}
	}
	return out
}

// A provider's prompt cache keeps hitting: words of a remote agent move when a record comes, never
// because it speaks again.
func TestRemoteAgentThatSpeaksAgainMovesNothing(t *testing.T) {
	t.Parallel()
	h := handed().Compact("s1", "e1", "e3", "e4", "e5").Compact("s2", "e7", "e8")
	v := view.New(slices.Clone(h.Events))
	before, generation := v.Version()
	if got := ids(before.Slice()); got != "e2 s1 e6 s2 e9 e10 e11 e12" {
		t.Fatalf("view is %q: nothing was moved", got)
	}
	for n := range 5 {
		remote(h.Agent("x", "far", "a"), 15+n)
		v.Append(h.Last())
	}
	after, now := v.Version()
	if now != generation || !slices.Equal(after.Slice()[:before.Len()], before.Slice()) || after.Len() != before.Len()+5 {
		t.Errorf("the view was %q and is %q", ids(before.Slice()), ids(after.Slice()))
	}
}
