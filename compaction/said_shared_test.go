package compaction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// remarks is what an agent says at length, so that the user writes the smaller part.
var remarks = "I have looked at it closely. " + strings.Repeat("There is a lot to say about that wall, its age and its many colors. ", 8)

// repeating is a config of a service whose summaries repeat the user's words, and nothing else.
func repeating() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxLedgerTokens = rewording(), true, compaction.Off
	return cfg
}

// An agent that is not to see a branch sees no word that was said in it, and each branch repeats all of its own.
func TestEachBranchRepeatsItsOwnWords(t *testing.T) {
	t.Parallel()
	branches := []string{"", "p.a", "p.b", "p.a.deep"}
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg := repeating()
		cfg.MaxSummaries = 2
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		var h compactiontest.History
		wish := func(branch string, i int) string { return fmt.Sprintf("Never tell %q about wall %d.", branch, i) }
		const turns = 24
		for i := range turns {
			for _, branch := range branches {
				h.Branch(branch).Turn(fmt.Sprint("inv", i, branch), "agent"+strings.ReplaceAll(branch, ".", ""), wish(branch, i), remarks)
			}
		}
		appendAll(t, svc, sess, h.Events...)
		shown := map[string]string{}
		for _, ev := range eventsOf(get(t, svc)) {
			shown[ev.Branch] += texts([]*session.Event{ev})[0]
		}
		for _, branch := range branches {
			if strings.Count(shown[branch], repeated) != 1 {
				t.Fatalf("branch %q shows %s", branch, shown[branch])
			}
			for i := range turns {
				if !strings.Contains(shown[branch], wish(branch, i)) {
					t.Errorf("branch %q has lost its wish %d", branch, i)
				}
			}
			for _, other := range branches {
				if other != branch && strings.Contains(shown[branch], fmt.Sprintf("Never tell %q", other)) {
					t.Errorf("branch %q shows words of branch %q", branch, other)
				}
			}
		}
	})
}

// A session of the same name as a deleted one begins without its words.
func TestASessionThatIsMadeAgainHasNoWordsOfTheOld(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		svc, other := newService(t, inner, repeating()), newService(t, inner, repeating())
		for _, by := range []session.Service{svc, other, inner} {
			appendAll(t, svc, create(t, svc), wishes(12)...)
			if shown := strings.Join(summaryTexts(eventsOf(get(t, svc))), "\n"); !strings.Contains(shown, wishOf(0)) {
				t.Fatalf("the old session shows %s", shown)
			}
			remove := func(by session.Service) {
				if err := by.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
					t.Fatal(err)
				}
			}
			remove(by)
			var h compactiontest.History
			for i := range 12 {
				h.Turn(fmt.Sprint("inv", i), "agent", fmt.Sprintf("Always water plant %d.", i), remarks)
			}
			appendAll(t, svc, create(t, svc), h.Events...)
			shown := strings.Join(summaryTexts(eventsOf(get(t, svc))), "\n")
			if strings.Contains(shown, "Never paint wall") || !strings.Contains(shown, "\n- Always water plant 0.") {
				t.Errorf("the new session shows %s", shown)
			}
			remove(svc)
		}
	})
}

// Whoever of two writes a record, both show the same words, and none is lost.
func TestTwoServicesOverOneStoreRepeatTheSameWords(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg := repeating()
		cfg.MaxSummaries = 2
		both := []*compaction.CompactionSessionService{newService(t, inner, cfg), newService(t, inner, cfg)}
		create(t, both[0])
		events := wishes(40)
		for i := 0; i < len(events); i += 2 {
			svc := both[i/2%3%2]
			appendAll(t, svc, get(t, svc), events[i], events[i+1])
			one, two := texts(eventsOf(get(t, both[0]))), texts(eventsOf(get(t, both[1])))
			if !slices.Equal(one, two) {
				t.Fatalf("after turn %d, one shows %q, the other %q", i/2, one, two)
			}
			all := strings.Join(one, "\n")
			for turn := range i/2 + 1 {
				if !strings.Contains(all, wishOf(turn)) {
					t.Fatalf("after turn %d, wish %d is gone", i/2, turn)
				}
			}
		}
		if n := len(records(t, rawEvents(t, both[0]))); n < 5 {
			t.Errorf("only %d records", n)
		}
	})
}
