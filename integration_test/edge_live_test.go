package integration_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// connect runs one live connection in which the user speaks n times without waiting for answers, so
// that two goroutines append to one handle at once.
func (api *liveAPI) connect(n int) {
	a := api.a
	a.t.Helper()
	a.turns++
	a.ledger.nextTurn()
	a.question = ""
	api.history, api.first = len(a.history) > 0, a.turns%2 == 0
	ctx, end := context.WithCancel(a.t.Context())
	defer end()
	sess, events, err := a.runner.RunLive(ctx, ref.UserID, ref.SessionID, agent.LiveRunConfig{})
	if err != nil {
		a.t.Fatal(err)
	}
	var mu sync.Mutex
	completed := make(chan struct{}, n+1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ev, err := range events {
			if err != nil {
				a.t.Errorf("live: %v", err)
				continue
			}
			if !ev.Partial && !isSound(ev) { // the runner stores neither
				mu.Lock()
				a.history = append(a.history, storedEvent(ev))
				mu.Unlock()
			}
			if ev.TurnComplete {
				completed <- struct{}{}
			}
		}
	}()
	await := func(c <-chan struct{}) {
		select {
		case <-c:
		case <-over:
			a.t.Fatal("live: the connection broke")
		}
	}
	await(api.ready)
	if api.first {
		await(completed)
	}
	for range n {
		api.say(sess, func(msg *genai.Content) {
			mu.Lock()
			defer mu.Unlock()
			a.history = append(a.history, storedMessage(msg))
		})
	}
	for range n {
		await(completed)
	}
	if err := sess.Close(); err != nil {
		a.t.Error(err)
	}
	<-over
	if a.mode.flushed {
		a.flush()
	}
	if a.mode.reopened > 0 && a.turns%a.mode.reopened == 0 {
		a.reopen()
	}
	if a.t.Failed() {
		a.t.FailNow()
	}
}

// say writes or speaks. ADK itself does not store written messages.
func (api *liveAPI) say(sess agent.LiveSession, store func(*genai.Content)) {
	api.a.t.Helper()
	if api.spoken {
		if err := sess.Send(agent.LiveRequest{RealtimeInput: &genai.Blob{MIMEType: "audio/pcm", Data: []byte("sound")}}); err != nil {
			api.a.t.Fatal(err)
		}
		return
	}
	msg := genai.NewContentFromText("Live, I add "+api.a.tell("user")+" to what I said.", genai.RoleUser)
	if err := sess.Send(agent.LiveRequest{Content: msg}); err != nil {
		api.a.t.Fatal(err)
	}
	store(msg)
}

func isSound(ev *session.Event) bool {
	return ev.Content != nil && slices.ContainsFunc(ev.Content.Parts, func(p *genai.Part) bool { return p.InlineData != nil })
}

// The session has live connections, ordinary turns between them, and compactions throughout. Every
// connection begins with a complete history of what was written and spoken, and so does every
// ordinary request.
func TestLiveConnectionsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, spoken := range []bool{false, true} {
		t.Run(fmt.Sprintf("spoken %t", spoken), func(t *testing.T) {
			t.Parallel()
			run := overStorages
			if spoken {
				run = inMemoryIn // the database service stores no transcriptions; see TestPinTheDatabaseStoresNoTranscription
			}
			run(t, []mode{synchronous, flushed, background, reopened, layered}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) { cfg.Summarizer = scribe }), unordered)
				x := newActor(a, "assistant", "")
				api, llm := newLiveAPI(a, x, spoken)
				a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Model, cfg.Tools = a.inLayers(llm), []tool.Tool{a.lookup()} }))
				connections := 0
				for i := range m.turns(store, 30) {
					if i%3 == 2 {
						x.will(a.lookups(1))
						a.chat(x, 1)
						continue
					}
					connections++
					api.connect(3)
				}
				if api.histories != connections-1 || api.calls < connections/3 {
					t.Errorf("%d histories and %d calls in %d connections", api.histories, api.calls, connections)
				}
				a.chat(x, 1)
				a.verify(a.turns / 10)
				stored, shown := transcribed(a.raw()), transcribed(a.view())
				if spoken && (stored < 6*connections || shown > stored/2) {
					t.Errorf("%d of %d transcriptions are still shown", shown, stored)
				}
			})
		})
	}
}

// transcribed counts events that consist only of speech.
func transcribed(events []*session.Event) int {
	n := 0
	for _, ev := range events {
		if ev.InputTranscription != nil || ev.OutputTranscription != nil {
			n++
		}
	}
	return n
}

// Speech without text is missing from ADK's database service when the handle is gone, with or
// without this module, unless it was summarized before.
func TestPinTheDatabaseStoresNoTranscription(t *testing.T) {
	t.Parallel()
	service := storages.Database(t).Open(t)
	created, err := service.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	ev := session.NewEventWithContext(t.Context(), "live")
	ev.Author, ev.InputTranscription = "assistant", &genai.Transcription{Text: compactiontest.Fact(1), Finished: true}
	if err := service.AppendEvent(t.Context(), created.Session, ev); err != nil {
		t.Fatal(err)
	}
	resp, err := service.Get(t.Context(), getRequest())
	if err != nil {
		t.Fatal(err)
	}
	if events := eventsOf(resp.Session); len(events) != 1 || events[0].InputTranscription != nil {
		t.Errorf("stored: %s", canonical(events))
	}
}
