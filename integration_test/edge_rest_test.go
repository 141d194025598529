package integration_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// A session is created, listed, run in both ways, changed, read and deleted over HTTP, with
// compactions throughout.
func TestTheRESTServerWorksOverTheService(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, background, layered}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, ref.AppName, "")
		a.root = a.llm(x, func(cfg *llmagent.Config) {
			cfg.Model, cfg.Tools = a.inLayers(streaming{x.model}), []tool.Tool{a.lookup()}
		})
		a.wrap()
		c := a.serve()

		missing := http.StatusNotFound
		if adk.Major == 2 {
			missing = http.StatusInternalServerError
		}
		if status, _ := c.call(http.MethodGet, sessionPath, nil); status != missing {
			t.Errorf("a session that was not created: status %d", status)
		}
		c.must(http.MethodPost, sessionPath, map[string]any{"state": map[string]any{"topic": "codes"}}, nil)
		pieces := 0
		for i := range 24 {
			if i%3 == 0 {
				x.will(a.lookups(2))
			}
			x.will(answer())
			pieces += c.ask(i%2 == 1)
		}
		if pieces < 12*8 {
			t.Errorf("%d pieces in 12 streamed turns", pieces)
		}
		a.verify(3)
		c.checkRead()
		c.checkList(1)

		if adk.Major == 2 {
			return // its server changes no session
		}
		// The web UI renames a session in this way, with an event without content.
		c.must(http.MethodPatch, sessionPath, map[string]any{"stateDelta": map[string]any{"topic": "numbers"}}, nil)
		a.history = append(a.history, stored{"", "user", "", canonical(nil)})
		for range 6 {
			x.will(answer())
			c.ask(false)
		}
		a.verify(4)
		c.checkRead()

		c.must(http.MethodDelete, sessionPath, nil, nil)
		if status, body := c.call(http.MethodGet, sessionPath, nil); status != http.StatusNotFound {
			t.Errorf("the deleted session: status %d: %s", status, body)
		}
		if _, err := a.svc.Raw(t.Context(), getRequest()); !adk.IsNotFound(err) {
			t.Errorf("the deleted session in storage: %v", err)
		}
		c.checkList(0)
	})
}

// checkRead checks that the server returns the view with the state, without records and hidden
// events.
func (c *client) checkRead() {
	c.a.t.Helper()
	c.a.flush()
	var sess restSession
	c.must(http.MethodGet, sessionPath, nil, &sess)
	var got, want []stored
	for _, ev := range sess.Events {
		got = append(got, ev.stored())
	}
	summaries := 0
	for _, ev := range c.a.view() {
		want = append(want, storedEvent(ev))
		if ev.Content != nil && isSummary(ev.Content) {
			summaries++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.a.t.Errorf("GET does not return the view (-view +got):\n%s", diff)
	}
	if summaries == 0 {
		c.a.t.Error("the view has no summary: nothing was compared")
	}
	if sess.ID != ref.SessionID || sess.State["topic"] == nil {
		c.a.t.Errorf("session %q has state %v", sess.ID, sess.State)
	}
}

func (c *client) checkList(n int) {
	c.a.t.Helper()
	var sessions []restSession
	c.must(http.MethodGet, sessionsPath, nil, &sessions)
	if len(sessions) != n || n > 0 && sessions[0].ID != ref.SessionID {
		c.a.t.Errorf("%d sessions are listed, want %d", len(sessions), n)
	}
}

// The server appends the events of a new session with a zero timestamp. With IDs they are
// summarized like others. Without IDs they cannot be distinguished, so they stay visible and do not
// block the rest.
func TestEventsThatComeOverRESTAreConversation(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprintf("with IDs %t", named), func(t *testing.T) {
			t.Parallel()
			run := overStorages
			if !named {
				run = inMemoryIn // the database service rejects a second event without an ID
			}
			run(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m)
				a.unordered = store.Name == "database" // it sorts by time
				x := newActor(a, ref.AppName, "")
				a.root = a.llm(x, nil)
				a.wrap()
				c := a.serve()
				var events []map[string]any
				for _, ev := range (&compactiontest.History{}).Turns(12, x.name).Events {
					sent, want := map[string]any{"author": ev.Author, "content": ev.Content}, storedEvent(ev)
					if named {
						sent["id"], sent["invocationId"] = ev.ID, ev.InvocationID
					}
					if !named || ev.Author == "user" {
						want.ID = ""
					}
					events = append(events, sent)
					a.history = append(a.history, want)
					for _, fact := range histories.FactsIn(ev) {
						a.ledger.number()
						a.ledger.tell(fact, "", "user")
					}
				}
				c.must(http.MethodPost, sessionPath, map[string]any{"events": events}, nil)
				a.flush() // over the database, such a history begins with an answer until a summary precedes it
				for range 24 {
					x.will(answer())
					c.ask(false)
				}
				a.verify(3)
				shown := 0
				for _, ev := range a.view() {
					if ev.Timestamp.IsZero() {
						shown++
					}
				}
				if all := shown == len(events); all == named {
					t.Errorf("%d of %d such events are shown", shown, len(events))
				}
			})
		})
	}
}
