package chat_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/tokens"
)

// watched is a session service that notes how much of a session each Get asks for, and fails to store what is named.
type watched struct {
	session.Service
	mu     sync.Mutex
	asked  []int
	refuse string
}

func (w *watched) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	w.mu.Lock()
	w.asked = append(w.asked, req.NumRecentEvents)
	w.mu.Unlock()
	return w.Service.Get(ctx, req)
}

func (w *watched) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if w.refuse != "" && ev.Content != nil && strings.Contains(ev.Content.Parts[0].Text, w.refuse) {
		return errors.New("the disk is full")
	}
	return w.Service.AppendEvent(ctx, s, ev)
}

func (w *watched) whole() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(w.asked), func(n int) bool { return n > 0 }))
}

// TestThePromptDoesNotWaitForALongHistory: the view of a session that was never compacted is all of it, and is read
// only once somebody says something. Whoever leaves without a word does not read it either.
func TestThePromptDoesNotWaitForALongHistory(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	create(t, inner)
	add(t, inner, (&compactiontest.History{}).Turns(400, "bot").Turn("last", "bot", "Is this the end?", "It is."))
	w := &watched{Service: inner}
	k := begin(t, setup{model: plays(sayYes), sessions: w})
	k.prompted()
	for _, want := range []string{"Session talk", "> Is this the end?", "It is."} {
		k.err.await(t, want)
	}
	k.person.typed <- typed{text: " "}
	k.leaves()
	if n := w.whole(); n != 0 || len(w.asked) == 0 {
		t.Errorf("the whole session was read %d times before anybody spoke: %v", n, w.asked)
	}
}

// TestWhoOnlyLooksLeavesAtOnce: a command that writes nothing leaves no summaries to wait for, so the end does not read the
// session.
func TestWhoOnlyLooksLeavesAtOnce(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	create(t, inner)
	add(t, inner, (&compactiontest.History{}).Turns(400, "bot"))
	w := &watched{Service: inner}
	k := begin(t, setup{model: plays(sayYes), sessions: w})
	for _, text := range []string{"/help", "/tools", "/sessions", "/nonsense"} {
		k.types(text)
	}
	k.types("/quit")
	if err := k.end(); err != nil {
		t.Error(err)
	}
	if n := w.whole(); n != 0 {
		t.Errorf("the whole session was read %d times: %v", n, w.asked)
	}
}

// TestAStopIsToldWithoutALongHistory: what the guard holds is in the state, and needs no more of the session.
func TestAStopIsToldWithoutALongHistory(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	layers := longsession.Config{Guard: guard.Config{Session: guard.Limits{ModelCalls: 1}}}
	first := begin(t, setup{model: plays(sayYes), sessions: inner, layers: layers})
	first.types("Is this all?")
	first.leaves()
	add(t, inner, (&compactiontest.History{}).Turns(400, "bot"))
	w := &watched{Service: inner}
	k := begin(t, setup{model: plays(sayYes), sessions: w, layers: layers})
	k.prompted()
	k.err.await(t, "This session is stopped: stopped by the guard: model_calls: ")
	k.person.typed <- typed{text: " "}
	k.leaves()
	if n := w.whole(); n != 0 {
		t.Errorf("the whole session was read %d times before anybody spoke: %v", n, w.asked)
	}
}

// add appends a history to the session of the tests.
func add(t testing.TB, to session.Service, h *compactiontest.History) {
	t.Helper()
	resp, err := to.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range h.Events {
		if err := to.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALongTurnIsReadToItsBeginning: the question of the person, and one of a tool that waits for their decision, may
// lie behind more events than are read at first.
func TestALongTurnIsReadToItsBeginning(t *testing.T) {
	t.Parallel()
	erase, runs, llm := guarded(t)
	inner := session.InMemoryService()
	first := begin(t, setup{model: llm, tools: []tool.Tool{erase}, sessions: inner})
	first.types("Delete it.")
	first.prompted() // for the decision
	first.interrupts()
	first.leaves()
	rounds := &compactiontest.History{}
	for i := range 300 {
		id := fmt.Sprintf("call-%d", i)
		rounds.Call("long", "bot", "look", id).Response("long", "bot", "look", "seen", id)
	}
	add(t, inner, rounds)
	k := begin(t, setup{model: llm, tools: []tool.Tool{erase}, sessions: inner})
	if prompt := k.prompted(); prompt != "Allow it? [y/N] " {
		t.Fatalf("the next chat begins with %q:\n%s", prompt, k.err)
	}
	k.person.typed <- typed{text: "y"}
	k.out.await(t, "Very well.")
	k.leaves()
	if runs.Load() != 1 || !strings.Contains(k.err.String(), "> Delete it.") {
		t.Errorf("the tool ran %d times, want once:\n%s", runs.Load(), k.err)
	}
}

// TestADamageInALongHistoryIsToldBeforeAnythingIsSaid: the prompt does not wait for the event that is damaged. The
// message that needs it reaches neither the model nor the session.
func TestADamageInALongHistoryIsToldBeforeAnythingIsSaid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	create(t, stored)
	add(t, stored, (&compactiontest.History{}).Turns(200, "bot"))
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE events SET content = '{' WHERE seq = 5"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	llm := plays(sayYes)
	k := begin(t, setup{model: llm, sessions: stored})
	k.types("Hello.")
	k.prompted()
	// The path of the file is in the error, so its length decides where the lines break.
	said := strings.Join(strings.Fields(k.err.String()), " ")
	if llm.calls() != 0 || !strings.Contains(said, "> Question 200") || !strings.Contains(said, `event "e5"`) {
		t.Errorf("the model was called %d times:\n%s", llm.calls(), k.err)
	}
	k.person.typed <- typed{err: io.EOF}
	if err := k.end(); err != nil {
		t.Error(err)
	}
	got, err := stored.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID, NumRecentEvents: 1})
	if err != nil || got.Session.Events().At(0).Author == "user" {
		t.Errorf("the message was stored, %v", err)
	}
}

func create(t testing.TB, in session.Service) {
	t.Helper()
	if _, err := in.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
}

// TestTheLastExchangeIsShownBehindARecord: records are among the stored events, and nobody said them.
func TestTheLastExchangeIsShownBehindARecord(t *testing.T) {
	t.Parallel()
	stored, err := persistence.NewSQLiteSessionService(filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	create(t, stored)
	add(t, stored, (&compactiontest.History{}).Turns(3, "bot").Turn("last", "bot", "Is this the end?", "It is.").Compact("r1", "e1", "e2"))
	k := begin(t, setup{model: plays(sayYes), sessions: stored})
	k.err.await(t, "> Is this the end?")
	k.err.await(t, "It is.")
	k.leaves()
	if strings.Contains(k.err.String(), "ummary of") {
		t.Errorf("a record is shown:\n%s", k.err)
	}
}

// TestAPromptMayBeACommand, which no model has to see.
func TestAPromptMayBeACommand(t *testing.T) {
	t.Parallel()
	llm := plays(sayYes)
	cfg, out, _ := piped(t, llm, "")
	cfg.Prompt = "/tools"
	if err := run(t, cfg); err != nil || !strings.Contains(out.String(), "read_result") {
		t.Errorf("the tools are %q, %v", out, err)
	}
	cfg.Prompt = "/tolls"
	if err := run(t, cfg); err == nil || !strings.Contains(err.Error(), "/tools") {
		t.Errorf("an unknown command: %v", err)
	}
	cfg.Prompt = "/quit"
	if err := run(t, cfg); err != nil {
		t.Errorf("leaving: %v", err)
	}
	if llm.calls() != 0 {
		t.Errorf("the model was called %d times", llm.calls())
	}
}

// TestHalfAnAnswerThatCannotBeStoredIsTold: the person has read it, and the model will not know it.
func TestHalfAnAnswerThatCannotBeStoredIsTold(t *testing.T) {
	t.Parallel()
	llm := plays(func(ctx context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if yield(part("The first step is to "), nil) {
			<-ctx.Done()
			yield(nil, ctx.Err())
		}
	})
	k := begin(t, setup{model: llm, sessions: &watched{Service: session.InMemoryService(), refuse: "first step"}})
	k.types("How do I bake bread?")
	k.out.await(t, "The first step is to ")
	k.interrupts()
	k.err.await(t, "could not be stored, so the model will not know it")
	k.err.await(t, "the disk is full")
	k.leaves()
}

// BenchmarkStartToPrompt opens a session that was never compacted, up to the prompt. Its time must not depend on the
// length of the session.
func BenchmarkStartToPrompt(b *testing.B) {
	for name, turns := range map[string]int{"1000 events": 500, "20000 events": 10_000} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "sessions.db")
			stored, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
			if err != nil {
				b.Fatal(err)
			}
			defer stored.Close()
			startToPrompt(b, stored, "Hello.\n") // the session has totals of the guard
			add(b, stored, (&compactiontest.History{}).Turns(turns, "bot"))
			for b.Loop() {
				startToPrompt(b, stored, "")
			}
		})
	}
}

func startToPrompt(b *testing.B, stored session.Service, in string) {
	llm := echo()
	stack, err := longsession.New(stored, longsession.Config{Model: llm, Guard: guard.Config{Session: guard.Limits{USD: tokens.Dollar}}})
	if err != nil {
		b.Fatal(err)
	}
	cfg, _, errs := pipedOver(b, stack, llm, in)
	c, err := chat.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Run(b.Context()); err != nil || in == "" && !strings.Contains(errs.String(), "Session talk") {
		b.Fatalf("%v\n%s", err, errs)
	}
	if err := stack.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
