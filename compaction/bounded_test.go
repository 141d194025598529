package compaction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// visibleFacts returns all fact tokens in the content of a view.
func visibleFacts(view []*session.Event) []string {
	var facts []string
	for _, ev := range view {
		facts = append(facts, histories.FactsIn(ev)...)
	}
	return facts
}

func summariesIn(t *testing.T, svc *compaction.CompactionSessionService) []compaction.SummaryStatus {
	t.Helper()
	status, err := svc.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return status.Summaries
}

// TestSummariesStayBoundedAndForgetNothing runs a long chat: never more than MaxSummaries summaries,
// every fact of every turn still there, and each rewritten only a logarithmic number of times.
func TestSummariesStayBoundedAndForgetNothing(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprintf("at most %d", limit), func(t *testing.T) {
			t.Parallel()
			const turns = 300
			cfg, _ := oracleConfig()
			cfg.MaxSummaries = limit
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			h := (&compactiontest.History{}).Turns(turns, "agent")
			for i, ev := range h.Events {
				appendAll(t, svc, sess, ev)
				if i%20 != 19 {
					continue
				}
				summaries := summariesIn(t, svc)
				if len(summaries) > limit {
					t.Fatalf("after %d turns: %d summaries are shown, want at most %d", (i+1)/2, len(summaries), limit)
				}
			}
			facts := visibleFacts(eventsOf(sess))
			for i := 1; i <= turns; i++ {
				if !slices.Contains(facts, compactiontest.Fact(i)) {
					t.Fatalf("fact %d of %d is gone", i, turns)
				}
			}
			checkView(t, svc)
			if limit < 5 {
				return // with few places even the best order rewrites the oldest often
			}
			windows, depth := 0, 0
			for _, m := range records(t, rawEvents(t, svc)) {
				if len(m.Covered) > 0 {
					windows++
				}
				depth = max(depth, m.Level)
			}
			if windows < turns/10 {
				t.Fatalf("only %d windows in %d turns", windows, turns)
			}
			// 300 windows were simulated to need 8; merging the smallest pair first would need 97.
			if depth > 8 {
				t.Errorf("a fact is rewritten up to %d times in %d windows, want at most 8", depth, windows)
			}
		})
	}
}

// TestPrefixIsStableBetweenCompactions: what stands in the view stays where it stands until the next
// compaction, byte for byte, so that provider prompt caches keep hitting.
func TestPrefixIsStableBetweenCompactions(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		create(t, svc)
		h := (&compactiontest.History{}).Turns(40, "agent")
		var before string
		compactions, stable := 0, 0
		for i := 0; i < len(h.Events); i += 2 {
			sess := get(t, svc) // as the runner does for every turn
			appendAll(t, svc, sess, h.Events[i], h.Events[i+1])
			after := render(eventsOf(get(t, svc)))
			if n := len(records(t, rawEvents(t, svc))); n > compactions {
				compactions = n
			} else {
				stable++
				if !strings.HasPrefix(after, before) {
					t.Fatalf("turn %d: the view changed before its end without a compaction:\n%s\n--\n%s", i/2+1, before, after)
				}
			}
			before = after
		}
		if compactions < 5 || stable < 20 {
			t.Fatalf("%d compactions and %d turns without one compare too little", compactions, stable)
		}
	})
}

func render(view []*session.Event) string {
	var b strings.Builder
	for _, ev := range view {
		fmt.Fprintf(&b, "%s|%s|%s\n", ev.Author, ev.Content.Role, ev.Content.Parts[0].Text)
	}
	return b.String()
}
