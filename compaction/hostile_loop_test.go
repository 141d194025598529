package compaction_test

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// terse answers every request with the same few words, and counts what it is given.
type terse struct{ calls, events, summaries, most int }

func (s *terse) Summarize(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
	s.calls++
	s.events += len(req.Events)
	s.summaries += len(req.Summaries)
	s.most = max(s.most, len(req.Events)+len(req.Summaries))
	return prose("They looked things up. " + words(60)), nil
}

// endless is what a turn of so many tool rounds took.
type endless struct {
	terse
	shown, prompt int // at most, over all rounds
}

func runEndless(t *testing.T, rounds int) endless {
	t.Helper()
	var got endless
	cfg, _ := oracleConfig()
	cfg.Summarizer = &got.terse
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.TokenThreshold = compaction.Off, 1_000_000, endlessThreshold
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).User("inv", "Please collect all the codes there are.")
	appendAll(t, svc, sess, h.Last())
	for i := range rounds {
		id := fmt.Sprintf("call%d", i)
		h.Call("inv", "agent", "lookup", id).Response("inv", "agent", "lookup", words(60), id)
		appendAll(t, svc, sess, h.Events[len(h.Events)-2:]...)
		if i%7 != 0 {
			continue
		}
		view := eventsOf(sess)
		prompt := 0
		for _, ev := range view {
			prompt += tokens.OfEvent(ev)
		}
		got.shown, got.prompt = max(got.shown, len(view)), max(got.prompt, prompt)
	}
	if view := eventsOf(sess); view[0] != h.Events[0] && view[1] != h.Events[0] {
		t.Errorf("the question is not in front: %v", compactiontest.IDs(view[:2]))
	}
	wantCoveredOnce(t, svc)
	if rounds <= 1250 { // the checker's time grows with the square of the history
		wantOnce(t, svc, h.Events)
		checkView(t, svc)
	}
	return got
}

const endlessThreshold = 8000

// TestEndlessToolLoopStaysBounded: one turn of thousands of rounds, without a word of the user's. No
// prompt grows beyond the threshold, and the summarizer is given each event once.
func TestEndlessToolLoopStaysBounded(t *testing.T) {
	t.Parallel()
	const n = 1250
	short, long := runEndless(t, n), runEndless(t, 4*n)
	if short.calls < 10 || long.calls < 40 {
		t.Fatalf("%d and %d calls of the summarizer: the test shows nothing", short.calls, long.calls)
	}
	for rounds, got := range map[int]endless{n: short, 4 * n: long} {
		if got.prompt > endlessThreshold+200 {
			t.Errorf("%d rounds: a prompt of %d tokens", rounds, got.prompt)
		}
		if got.events > 2*rounds {
			t.Errorf("%d rounds: %d events were handed to the summarizer", rounds, got.events)
		}
		if got.summaries > 2*got.calls {
			t.Errorf("%d rounds: %d summaries were rewritten in %d calls", rounds, got.summaries, got.calls)
		}
	}
	if long.shown > short.shown+10 || long.most > short.most+10 || long.calls > 6*short.calls { // the list of values fills up first
		t.Errorf("four times the rounds: %+v instead of %+v", long, short)
	}
}

// TestEndlessToolLoopSurvivesARestartInTheMidst: the turn goes on with another handle, of another
// process perhaps, and neither forgets nor summarizes anything twice.
func TestEndlessToolLoopSurvivesARestartInTheMidst(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		const rounds = 200
		cfg, oracle := oracleConfig()
		cfg.InvocationThreshold, cfg.ContextWindow, cfg.TokenThreshold = compaction.Off, 1_000_000, 3000
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		h := (&compactiontest.History{}).User("inv", "Please collect all the codes there are.")
		appendAll(t, svc, sess, h.Last())
		for i := 1; i <= rounds; i++ {
			if i%50 == 0 {
				svc = newService(t, inner, cfg)
				sess = get(t, svc)
			}
			id := fmt.Sprintf("call%d", i)
			h.Call("inv", "agent", "lookup", id).Response("inv", "agent", "lookup", compactiontest.Fact(i)+" "+words(60), id)
			appendAll(t, svc, sess, h.Events[len(h.Events)-2:]...)
		}
		wantHandedOnce(t, oracle, h.Events)
		wantFacts(t, eventsOf(sess), rounds)
		wantOnce(t, svc, h.Events)
		wantCoveredOnce(t, svc)
		checkView(t, svc)
	})
}
