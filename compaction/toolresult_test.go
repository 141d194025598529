package compaction_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// heedful is a service that refuses a context that has ended, as a database does, and may hang
// until its context ends.
type heedful struct {
	session.Service
	hangs bool
}

func (s heedful) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if s.hangs {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Service.AppendEvent(ctx, sess, ev)
}

func TestToolResultIsStoredThoughTheTurnsContextEnded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		ev   func(h *compactiontest.History)
		kept bool
	}{
		{"a tool's result", func(h *compactiontest.History) { h.Response("inv1", "bot", "tool", "done", "c") }, true},
		{"a user's answer", func(h *compactiontest.History) { h.Response("inv1", "user", "tool", "done", "c") }, false},
		{"a call", func(h *compactiontest.History) { h.Call("inv1", "bot", "tool", "c") }, false},
		{"words of the model", func(h *compactiontest.History) { h.Agent("inv1", "bot", "text") }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, _ := oracleConfig()
				svc := newService(t, heedful{Service: inner}, cfg)
				sess := create(t, svc)
				var h compactiontest.History
				appendAll(t, svc, sess, h.User("inv1", "question").Call("inv1", "bot", "tool", "c").Events...)
				row.ev(&h)
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				err := svc.AppendEvent(ctx, sess, h.Last())
				stored := len(rawEvents(t, svc))
				if row.kept && (err != nil || stored != 3) {
					t.Errorf("%d events are stored, error %v; want 3 and none", stored, err)
				}
				if !row.kept && (!errors.Is(err, context.Canceled) || stored != 2) {
					t.Errorf("%d events are stored, error %v; want 2 and context canceled", stored, err)
				}
			})
		})
	}
}

// TestStoreThatHangsMayKeepATurnThatEndedForFiveSeconds holds the other bound: a user who pressed
// Ctrl-C does not wait for a dead store.
func TestStoreThatHangsMayKeepATurnThatEndedForFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := session.InMemoryService()
		cfg, _ := oracleConfig()
		svc, err := compaction.NewCompactionService(heedful{inner, true}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer svc.Close(context.Background())
		sess := create(t, svc)
		var h compactiontest.History
		h.Response("inv1", "bot", "tool", "done", "c")
		ctx, cancel := context.WithCancel(t.Context())
		started := time.Now()
		time.AfterFunc(time.Hour, cancel) // while the context lives, the store may take its time
		if err := svc.AppendEvent(ctx, sess, h.Last()); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context canceled", err)
		}
		if got, want := time.Since(started), time.Hour+5*time.Second; got != want {
			t.Errorf("the append took %v, want %v", got, want)
		}
	})
}

// invocation is as much of an agent.InvocationContext as a decorator looks at.
type invocation struct {
	agent.InvocationContext
	context.Context
}

func (invocation) InvocationID() string          { return "inv1" }
func (i invocation) Deadline() (time.Time, bool) { return i.Context.Deadline() }
func (i invocation) Done() <-chan struct{}       { return i.Context.Done() }
func (i invocation) Err() error                  { return i.Context.Err() }
func (i invocation) Value(key any) any           { return i.Context.Value(key) }

// seeing is a service that looks for the invocation in the context of an append.
type seeing struct {
	session.Service
	seen *[]string
}

func (s seeing) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if inv, ok := ctx.(agent.InvocationContext); ok {
		*s.seen = append(*s.seen, inv.InvocationID(), ctx.Value(key{}).(string))
	}
	return s.Service.AppendEvent(ctx, sess, ev)
}

type key struct{}

func TestToolResultIsAppendedInTheContextOfItsInvocation(t *testing.T) {
	t.Parallel()
	var seen []string
	cfg, _ := oracleConfig()
	svc := newService(t, seeing{session.InMemoryService(), &seen}, cfg)
	sess := create(t, svc)
	var h compactiontest.History
	h.Response("inv1", "bot", "tool", "done", "c")
	ctx := invocation{Context: context.WithValue(t.Context(), key{}, "value")}
	if err := svc.AppendEvent(ctx, sess, h.Last()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"inv1", "value"}; !slices.Equal(seen, want) {
		t.Errorf("a decorator saw %q, want %q", seen, want)
	}
}

// What ends with its context is decided by the app's own service: one in memory stores the answer of a model that did not
// heed the end of its turn, and one over a database refuses it.
func TestAnEndedContextRefusesNothingByItself(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		inner session.Service
		want  error
	}{
		"in memory":  {session.InMemoryService(), nil},
		"a database": {heedful{Service: session.InMemoryService()}, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc, err := compaction.NewCompactionService(row.inner, compaction.Config{Summarizer: new(compactiontest.Oracle), ContextWindow: 32_000})
			if err != nil {
				t.Fatal(err)
			}
			created, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			h := &compactiontest.History{}
			h.Turns(1, "agent")
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := svc.AppendEvent(ended, created.Session, h.Events[1]); !errors.Is(err, row.want) || err != nil && err.Error() != row.want.Error() {
				t.Errorf("an append returns %v, want %v", err, row.want)
			}
			if err := svc.Delete(ended, &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: "s"}); err != nil {
				t.Errorf("a deletion returns %v", err)
			}
			if err := svc.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
