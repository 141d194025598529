package compaction_test

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// broken makes a string that is not UTF-8.
func broken(s string) string { return s + "\xff\xfe\xc0" }

// brokenTurns is n turns in which every string but the facts is broken: text, names, IDs, keys,
// branches, state and metadata.
func brokenTurns(n int) *compactiontest.History {
	h := (&compactiontest.History{}).Branch(broken("branch"))
	for i := 1; i <= n; i++ {
		inv, id := broken(fmt.Sprint("inv", i)), broken(fmt.Sprint("call", i))
		h.User(inv, broken(compactiontest.Fact(i)+" "+words(20))).
			Call(inv, broken("agent"), broken("tool"), id).
			Response(inv, broken("agent"), broken("tool"), broken(words(20)), id).
			Agent(inv, broken("agent"), broken(words(20)))
	}
	for _, ev := range h.Events {
		ev.ID = broken(ev.ID)
		ev.Actions.StateDelta = map[string]any{broken("key"): broken("value")}
		ev.CustomMetadata = map[string]any{broken("key"): broken("value")}
	}
	return h
}

// TestBrokenUTF8HarmsNoTurn: nothing that a stranger, a tool or a file can put into a session stops it,
// and nothing is hidden unsummarized: not after a restart either, when a backend has replaced the
// broken bytes in what it keeps as JSON, and may have kept them elsewhere.
func TestBrokenUTF8HarmsNoTurn(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		const n = 20
		cfg, oracle := oracleConfig()
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		h := brokenTurns(n)
		appendAll(t, svc, sess, h.Events[:2*n]...)
		if len(oracle.Requests()) == 0 || sess.Events().Len() >= 2*n {
			t.Fatalf("%d calls of the summarizer, %d events in view: the test shows nothing", len(oracle.Requests()), sess.Events().Len())
		}
		sess = get(t, svc)
		appendAll(t, svc, sess, h.Events[2*n:]...)
		wantFacts(t, eventsOf(sess), n)
		wantFacts(t, eventsOf(get(t, svc)), n)
		wantOnce(t, svc, h.Events)
		checkView(t, svc)
	})
}

// TestBrokenNamesOfASessionAreTheInnerServicesAffair: whatever it makes of them, wrapped or not.
func TestBrokenNamesOfASessionAreTheInnerServicesAffair(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, oracle := oracleConfig()
		svc := newService(t, inner, cfg)
		created, err := svc.Create(t.Context(), &session.CreateRequest{
			AppName: broken("app"), UserID: broken("user"), SessionID: broken("session"),
			State: map[string]any{broken("key"): broken("value")},
		})
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, svc, created.Session, turns(12)...)
		again, err := svc.Get(t.Context(), &session.GetRequest{AppName: broken("app"), UserID: broken("user"), SessionID: broken("session")})
		if err != nil {
			t.Fatal(err)
		}
		if len(oracle.Requests()) == 0 {
			t.Error("nothing was compacted")
		}
		wantFacts(t, eventsOf(again.Session), 12)
	})
}

// A reference holds names as JSON writes them; SQLite keeps the bytes as they are.
func TestBrokenNamesAreNotPaidForTwice(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, oracle := oracleConfig()
		svc := newService(t, inner, cfg)
		h := brokenTurns(20)
		appendAll(t, svc, create(t, svc), h.Events...)
		for i := range 3 {
			sess := get(t, svc) // as after a restart
			ev := *h.Events[0]
			ev.ID = fmt.Sprint("again", i)
			appendAll(t, svc, sess, &ev)
		}
		flush(t, svc)
		wantHandedOnce(t, oracle, append(h.Events, h.Events...))
	})
}
