package compaction_test

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/selector"
)

func callIDs(from, to int) []string {
	var ids []string
	for i := from; i < to; i++ {
		ids = append(ids, fmt.Sprintf("call%d", i))
	}
	return ids
}

// TestThousandParallelCallsHarmNoTurn: one event with a thousand calls, and its responses in one event
// or in a thousand. They are one unit, which is summarized whole: also if some never return, because the
// turn was cut off.
func TestThousandParallelCallsHarmNoTurn(t *testing.T) {
	t.Parallel()
	const n = 1000
	for name, tc := range map[string]struct {
		answered, each int // how many calls are answered, so many in one event
	}{
		"all in one event":  {n, n},
		"half in one event": {n / 2, n / 2},
		"one by one":        {n, 1},
		"half one by one":   {n / 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, oracle := oracleConfig()
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				h := (&compactiontest.History{}).User("many", "Look everything up.").Call("many", "agent", "lookup", callIDs(0, n)...)
				for i := 0; i < tc.answered; i += tc.each {
					h.Response("many", "agent", "lookup", "ok", callIDs(i, i+tc.each)...)
				}
				h.Agent("many", "agent", "That is all I found.").Turns(9, "agent")
				appendAll(t, svc, sess, h.Events...)
				if len(oracle.Requests()) == 0 {
					t.Fatal("nothing was compacted")
				}
				if slices.Contains(compactiontest.IDs(eventsOf(sess)), "e2") {
					t.Error("the calls are still shown")
				}
				wantFacts(t, eventsOf(sess), 9)
				wantOnce(t, svc, h.Events)
				checkView(t, svc)
			})
		})
	}
}

// TestThousandInterruptedCallsAreSummarized: they do not stay in every prompt for ever.
func TestThousandInterruptedCallsAreSummarized(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).User("many", "Look everything up.").Call("many", "agent", "lookup", callIDs(0, 1000)...).
		Response("many", "agent", "lookup", "ok", callIDs(0, 500)...).Turns(60, "agent")
	appendAll(t, svc, sess, h.Events...)
	if view := compactiontest.IDs(eventsOf(sess)); len(view) > 14+cfg.MaxSummaries || slices.Contains(view, "e2") {
		t.Errorf("%d events are shown, from %s on", len(view), view[0])
	}
	wantFacts(t, eventsOf(sess), 60)
	checkView(t, svc)
}

// TestTenThousandPendingCallsHoldUpNothing: each turn leaves its calls open. The turns around them are
// summarized all the same, and so are they when more wait than may.
func TestTenThousandPendingCallsHoldUpNothing(t *testing.T) {
	t.Parallel()
	const turns, each = 100, 100
	cfg, oracle := oracleConfig()
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := &compactiontest.History{}
	for i := 1; i <= turns; i++ {
		inv := fmt.Sprint("inv", i)
		h.User(inv, "Start some more: "+compactiontest.Fact(i))
		for _, id := range callIDs(i*each, (i+1)*each) {
			h.LongCall(inv, "agent", "start", id)
		}
		h.Agent(inv, "agent", "They are all running, and I shall tell you when they are done.")
	}
	appendAll(t, svc, sess, h.Events...)
	open := 0
	for _, ev := range eventsOf(sess) {
		if len(ev.LongRunningToolIDs) > 0 {
			open++
		}
	}
	if least, most := selector.MaxWaiting, 7*each; open < least || open > most {
		t.Errorf("%d pending calls are shown, want %d to %d", open, least, most)
	}
	wantHandedOnce(t, oracle, h.Events)
	wantFacts(t, eventsOf(sess), turns)
	wantOnce(t, svc, h.Events)
	wantCoveredOnce(t, svc)
}

// wantHandedOnce checks that the summarizer saw no event twice, and was asked for windows worth a call.
func wantHandedOnce(t *testing.T, oracle *compactiontest.Oracle, events []*session.Event) {
	t.Helper()
	times := map[string]int{}
	windows, handed := 0, 0
	for _, req := range oracle.Requests() {
		if len(req.Events) > 0 {
			windows++
		}
		for _, ev := range req.Events {
			handed++
			if times[ev.ID]++; times[ev.ID] == 2 {
				t.Errorf("event %s was handed to the summarizer twice", ev.ID)
			}
		}
	}
	if windows == 0 || handed < 4*windows || handed > len(events) {
		t.Errorf("%d events of %d in %d windows", handed, len(events), windows)
	}
}

// TestLateAnswersBringTheirCallsBack: a thousand calls of one event, given up and summarized, and then
// one of them is answered after all.
func TestLateAnswersBringTheirCallsBack(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).User("many", "Start them.").Call("many", "agent", "start", callIDs(0, 1000)...).
		Long(callIDs(0, 1000)...).Response("many", "agent", "start", "pending", callIDs(0, 1000)...)
	for i := range selector.MaxWaiting + 10 { // each turn leaves one more waiting call
		inv := fmt.Sprint("inv", i)
		h.User(inv, "Start another: "+compactiontest.Fact(i)).LongCall(inv, "agent", "start", fmt.Sprint("one", i))
		h.Response(inv, "agent", "start", "pending", fmt.Sprint("one", i)).Agent(inv, "agent", "It is running, and I shall tell you.")
	}
	appendAll(t, svc, sess, h.Events...)
	if slices.Contains(compactiontest.IDs(eventsOf(sess)), "e2") {
		t.Fatal("the calls are still in view: the test shows nothing")
	}
	h.Response("late", "user", "start", "done", "call999")
	appendAll(t, svc, sess, h.Last())
	if view := compactiontest.IDs(eventsOf(sess)); !slices.Contains(view, "e2") || !slices.Contains(view, "e3") || view[len(view)-1] != h.Last().ID {
		t.Errorf("the view is %v", view)
	}
	checkView(t, svc)
	if got := status(t, svc); got.PromptTokens >= got.HardLimit {
		t.Errorf("the prompt has %d tokens", got.PromptTokens)
	}
}
