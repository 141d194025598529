package databases_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// tally is the result of a run over a database.
type tally struct {
	turns, failed int
	// lostKeys, lostEvents and doubledEvents count violations in storage for acknowledged turns.
	// The events of a killed turn may be stored, but only once.
	lostKeys, lostEvents, doubledEvents int
	// lostFacts counts facts of stored events that are missing from a request or a view, and
	// badViews counts malformed views.
	lostFacts, badViews int
	// killed counts turns whose process was killed.
	killed int
	// calls counts requests to the summarizers of surviving processes, and records the stored
	// records.
	calls, records int
}

func (n tally) String() string {
	return fmt.Sprintf("%d turns (%d killed), %d failed, %d state keys lost, %d events lost, %d stored twice, %d facts lost, %d bad views, %d summarizer calls, %d records",
		n.turns, n.killed, n.failed, n.lostKeys, n.lostEvents, n.doubledEvents, n.lostFacts, n.badViews, n.calls, n.records)
}

func (n *tally) add(other tally) {
	n.turns += other.turns
	n.failed += other.failed
	n.lostKeys += other.lostKeys
	n.lostEvents += other.lostEvents
	n.doubledEvents += other.doubledEvents
	n.lostFacts += other.lostFacts
	n.badViews += other.badViews
	n.killed += other.killed
	n.calls += other.calls
	n.records += other.records
}

// mustBeClean fails the test if a turn failed or data was lost.
func (n tally) mustBeClean(t *testing.T) {
	t.Helper()
	if n.failed+n.lostKeys+n.lostEvents+n.doubledEvents+n.lostFacts+n.badViews > 0 {
		t.Errorf("something failed or was lost: %s", n)
	}
}

// inspect compares a stored session with the acknowledged turns, and its view with the stored
// events. It only reads.
func inspect(ctx context.Context, t *testing.T, inner session.Service, sessionID string, acknowledged []int) tally {
	t.Helper()
	get := &session.GetRequest{AppName: appName, UserID: userID, SessionID: sessionID}
	resp, err := inner.Get(ctx, get)
	if err != nil {
		t.Fatal(err)
	}
	raw := slices.Collect(resp.Session.Events().All())
	var found tally
	byID, told := map[string]int{}, map[string]int{} // told: by author and fact
	for _, ev := range raw {
		byID[ev.ID]++
		if compaction.IsCompactionEvent(ev) {
			found.records++
			continue
		}
		for _, fact := range histories.FactsIn(ev) {
			told[ev.Author+fact]++
		}
	}
	for _, counts := range []map[string]int{byID, told} {
		for of, n := range counts {
			if n > 1 {
				t.Logf("session %s: %s is stored %d times", sessionID, of, n)
				found.doubledEvents++
			}
		}
	}
	for _, turn := range acknowledged {
		for _, author := range []string{"user", agentName} {
			if told[author+compactiontest.Fact(turn)] == 0 {
				t.Logf("session %s: the event of %s in turn %d is lost", sessionID, author, turn)
				found.lostEvents++
			}
		}
		for _, key := range []string{askedKey(turn), answeredKey(turn)} {
			if _, err := resp.Session.State().Get(key); err != nil {
				t.Logf("session %s: state key %s is lost", sessionID, key)
				found.lostKeys++
			}
		}
	}
	found.add(inspectView(ctx, t, loaded{inner, resp}, get, raw))
	return found
}

// loaded is a service that has read a session, so that view and history share their events.
type loaded struct {
	session.Service
	resp *session.GetResponse
}

func (l loaded) Get(context.Context, *session.GetRequest) (*session.GetResponse, error) {
	return l.resp, nil
}

// inspectView compares the view of a new process with the stored events.
func inspectView(ctx context.Context, t *testing.T, inner loaded, get *session.GetRequest, raw []*session.Event) tally {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.ContextWindow = &compactiontest.Oracle{}, 128_000
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = svc.Close(ctx) }()
	resp, err := svc.Get(ctx, get)
	if err != nil {
		t.Fatal(err)
	}
	var found tally
	view := slices.Collect(resp.Session.Events().All())
	if err := compactiontest.Check(raw, view); err != nil {
		t.Logf("session %s: %v", get.SessionID, err)
		found.badViews++
	}
	known := map[string]bool{}
	for _, ev := range view {
		for _, fact := range histories.FactsIn(ev) {
			known[fact] = true
		}
	}
	for _, ev := range raw {
		for _, fact := range histories.FactsIn(ev) {
			if !known[fact] {
				t.Logf("session %s: %s is not in the view", get.SessionID, fact)
				found.lostFacts++
			}
		}
	}
	return found
}

// missing counts the facts of the given turns that a request lacked.
func missing(facts []string, turns []int) int {
	n := 0
	for _, turn := range turns {
		if !slices.Contains(facts, compactiontest.Fact(turn)) {
			n++
		}
	}
	return n
}
