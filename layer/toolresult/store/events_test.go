package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/summarizer"
)

var me = store.Owner{AppName: "app", UserID: "user", SessionID: "s"}

// chat is a session under test.
type chat struct {
	t    *testing.T
	svc  session.Service
	sess session.Session
	now  time.Time
	n    int
}

func newChat(t *testing.T, svc session.Service, owner store.Owner) *chat {
	t.Helper()
	resp, err := svc.Create(t.Context(), &session.CreateRequest{AppName: owner.AppName, UserID: owner.UserID, SessionID: owner.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	return &chat{t: t, svc: svc, sess: resp.Session, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// add appends one event with the responses of parallel calls.
func (c *chat) add(responses ...map[string]any) {
	c.t.Helper()
	c.n++
	c.now = c.now.Add(time.Second)
	ev := session.NewEventWithContext(c.t.Context(), "inv")
	ev.ID, ev.Author, ev.Timestamp = fmt.Sprintf("e%d", c.n), "agent", c.now
	ev.Content = &genai.Content{Role: genai.RoleUser}
	for i, r := range responses {
		ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: fmt.Sprintf("c%d-%d", c.n, i), Name: "tool", Response: r}})
	}
	if err := c.svc.AppendEvent(c.t.Context(), c.sess, ev); err != nil {
		c.t.Fatal(err)
	}
}

func result(text string) map[string]any { return map[string]any{"output": text} }

func refOf(text string) string { return store.ResultOf(result(text)).Ref }

func readAll(ctx context.Context, src store.Source, owner store.Owner, ref string) (string, error) {
	r, size, err := src.Open(ctx, owner, ref)
	if err != nil {
		return "", err
	}
	if closer, ok := r.(io.Closer); ok {
		defer closer.Close()
	}
	data, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	return string(data), err
}

// counted counts what is read.
type counted struct {
	session.Service
	gets, events atomic.Int64
}

func (c *counted) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	c.gets.Add(1)
	resp, err := c.Service.Get(ctx, req)
	if err == nil {
		c.events.Add(int64(resp.Session.Events().Len()))
	}
	return resp, err
}

// withoutPages hides the method History.
type withoutPages struct{ session.Service }

func places(t *testing.T) []storages.Storage {
	plain := storages.Persistence(t).Wrapped(func(s session.Service) session.Service { return withoutPages{s} })
	plain.Name = "persistence without pages"
	return append(storages.All(t), plain)
}

func TestEveryStoredResultIsReadBack(t *testing.T) {
	t.Parallel()
	for _, place := range places(t) {
		t.Run(place.Name, func(t *testing.T) {
			t.Parallel()
			svc := place.Open(t)
			src := store.Events(svc)
			c := newChat(t, svc, me)
			var all []map[string]any
			for i := range 40 {
				parallel := []map[string]any{
					result(fmt.Sprintf("text %d é", i)),
					{"stdout": strings.Repeat("x", i), "exit_code": i},
					{"n": []any{float64(i), nil, "<&>"}},
				}
				c.add(parallel...)
				all = append(all, parallel...)
				if i%10 != 9 {
					continue
				}
				for _, r := range all {
					want := store.ResultOf(r)
					if got, err := readAll(t.Context(), src, me, want.Ref); err != nil || got != want.Content {
						t.Fatalf("after %d events: %q, %v, want %q", i+1, got, err, want.Content)
					}
				}
			}
			again := store.Events(place.Open(t))
			for _, r := range all {
				want := store.ResultOf(r)
				if got, err := readAll(t.Context(), again, me, want.Ref); err != nil || got != want.Content {
					t.Fatalf("after a restart: %q, %v, want %q", got, err, want.Content)
				}
			}
		})
	}
}

func TestOnlyTheOwnerReads(t *testing.T) {
	t.Parallel()
	for _, place := range places(t) {
		t.Run(place.Name, func(t *testing.T) {
			t.Parallel()
			svc := place.Open(t)
			src := store.Events(svc)
			newChat(t, svc, me).add(result("mine"))
			newChat(t, svc, store.Owner{AppName: "app", UserID: "user", SessionID: "other"}).add(result("other"))
			if got, err := readAll(t.Context(), src, me, refOf("mine")); err != nil || got != "mine" {
				t.Fatalf("the owner reads %q, %v", got, err)
			}
			for _, r := range []struct {
				name  string
				owner store.Owner
				ref   string
			}{
				{"another app", store.Owner{AppName: "app2", UserID: "user", SessionID: "s"}, refOf("mine")},
				{"another user", store.Owner{AppName: "app", UserID: "user2", SessionID: "s"}, refOf("mine")},
				{"another session", store.Owner{AppName: "app", UserID: "user", SessionID: "other"}, refOf("mine")},
				{"a session that does not exist", store.Owner{AppName: "app", UserID: "user", SessionID: "none"}, refOf("mine")},
				{"no app", store.Owner{UserID: "user", SessionID: "s"}, refOf("mine")},
				{"no user", store.Owner{AppName: "app", SessionID: "s"}, refOf("mine")},
				{"no session", store.Owner{AppName: "app", UserID: "user"}, refOf("mine")},
				{"a result of another session", me, refOf("other")},
				{"a result that never was", me, refOf("never")},
				{"no reference", me, ""},
				{"malformed", me, "r-xyz"},
				{"with a path", me, "../" + refOf("mine")},
				{"in capitals", me, strings.ToUpper(refOf("mine"))},
			} {
				if _, err := readAll(t.Context(), src, r.owner, r.ref); err != store.ErrUnknownRef {
					t.Errorf("%s: %v, want exactly ErrUnknownRef", r.name, err)
				}
			}
		})
	}
}

func TestADeletedSessionHasNoResults(t *testing.T) {
	t.Parallel()
	for _, place := range places(t) {
		t.Run(place.Name, func(t *testing.T) {
			t.Parallel()
			svc := place.Open(t)
			src := store.Events(svc)
			newChat(t, svc, me).add(result("secret"))
			if _, err := readAll(t.Context(), src, me, refOf("secret")); err != nil {
				t.Fatal(err)
			}
			if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: me.AppName, UserID: me.UserID, SessionID: me.SessionID}); err != nil {
				t.Fatal(err)
			}
			if got, err := readAll(t.Context(), src, me, refOf("secret")); !errors.Is(err, store.ErrUnknownRef) {
				t.Fatalf("%q, %v", got, err)
			}
			newChat(t, svc, me).add(result("new"))
			if got, err := readAll(t.Context(), src, me, refOf("new")); err != nil || got != "new" {
				t.Errorf("the session that was created anew has %q, %v", got, err)
			}
			if got, err := readAll(t.Context(), src, me, refOf("secret")); !errors.Is(err, store.ErrUnknownRef) {
				t.Errorf("the session that was created anew inherits %q, %v", got, err)
			}
		})
	}
}

// A result that was read is in memory. It must not be read from there once its session is another one, even if that has
// events with the same names and times, and whether this process or another one deleted the first.
func TestASessionCreatedAgainShowsNothingOfTheFirst(t *testing.T) {
	t.Parallel()
	for _, place := range places(t) {
		for _, who := range []string{"this process", "another process"} {
			t.Run(place.Name+", deleted by "+who, func(t *testing.T) {
				t.Parallel()
				place := place.Anew(t)
				svc := place.Open(t)
				deleter := svc
				if who == "another process" {
					deleter = place.Open(t)
				}
				src := store.Events(svc)
				first := newChat(t, svc, me)
				for _, text := range []string{"secret", "second", "third"} {
					first.add(result(text))
				}
				if _, err := readAll(t.Context(), src, me, refOf("secret")); err != nil {
					t.Fatal(err)
				}
				if err := deleter.Delete(t.Context(), &session.DeleteRequest{AppName: me.AppName, UserID: me.UserID, SessionID: me.SessionID}); err != nil {
					t.Fatal(err)
				}
				second := newChat(t, deleter, me)
				for n := range 5 {
					if got, err := readAll(t.Context(), src, me, refOf("secret")); !errors.Is(err, store.ErrUnknownRef) {
						t.Errorf("with %d events the session that was created again shows %q, %v", n, got, err)
					}
					second.add(result(fmt.Sprint("new ", n)))
					if got, err := readAll(t.Context(), src, me, refOf(fmt.Sprint("new ", n))); err != nil || got != fmt.Sprint("new ", n) {
						t.Errorf("%q, %v", got, err)
					}
				}
			})
		}
	}
}

// An event may be stored behind one with a later timestamp: clocks of two processes differ.
func TestAResultWithAnOlderTimestampIsFound(t *testing.T) {
	t.Parallel()
	for _, place := range places(t) {
		t.Run(place.Name, func(t *testing.T) {
			t.Parallel()
			svc := place.Open(t)
			src := store.Events(svc)
			c := newChat(t, svc, me)
			c.add(result("first"))
			if _, err := readAll(t.Context(), src, me, refOf("first")); err != nil {
				t.Fatal(err)
			}
			resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: me.AppName, UserID: me.UserID, SessionID: me.SessionID})
			if err != nil {
				t.Fatal(err)
			}
			c.sess, c.now = resp.Session, c.now.Add(-time.Hour)
			c.add(result("older"))
			if got, err := readAll(t.Context(), src, me, refOf("older")); err != nil || got != "older" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// All events of a session may have one timestamp, for example under a clock that a test has stopped.
func TestEqualTimestampsHideNothing(t *testing.T) {
	t.Parallel()
	for _, place := range places(t) {
		t.Run(place.Name, func(t *testing.T) {
			t.Parallel()
			svc := place.Open(t)
			src := store.Events(svc)
			c := newChat(t, svc, me)
			for i := range 5 {
				c.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
				c.add(result(fmt.Sprint("result ", i)))
				if got, err := readAll(t.Context(), src, me, refOf(fmt.Sprint("result ", i))); err != nil || got != fmt.Sprint("result ", i) {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
}

func TestLaterReadsDoNotReadTheHistoryAgain(t *testing.T) {
	t.Parallel()
	svc := &counted{Service: session.InMemoryService()}
	src := store.Events(svc)
	c := newChat(t, svc, me)
	const many = 2_000
	for i := range many {
		c.add(result(fmt.Sprint("result ", i)))
	}
	read := func(text string) (gets, events int64) {
		t.Helper()
		gets, events = svc.gets.Load(), svc.events.Load()
		if got, err := readAll(t.Context(), src, me, refOf(text)); err != nil || got != text {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
		return svc.gets.Load() - gets, svc.events.Load() - events
	}
	if gets, events := read("result 7"); gets != 1 || events != many {
		t.Errorf("the first read took %d Gets with %d events, want 1 with %d", gets, events, many)
	}
	if gets, events := read("result 7"); gets != 1 || events != 1 {
		t.Errorf("reading on took %d Gets with %d events, want 1 with the newest", gets, events)
	}
	if gets, events := read(fmt.Sprint("result ", many-5)); gets != 2 || events != 6 {
		t.Errorf("another result took %d Gets with %d events, want 2 with 6", gets, events)
	}
	c.add(result("new"))
	if gets, events := read("new"); gets != 1 || events != 2 {
		t.Errorf("a new result took %d Gets with %d events, want 1 with 2", gets, events)
	}
}

func TestACompactedResultIsReadable(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	layer, err := compaction.NewCompactionService(inner, compaction.Config{Summarizer: summarizer.Extractive{}, InvocationThreshold: 2, OverlapSize: 1, Synchronous: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { layer.Close(context.Background()) })
	c := newChat(t, layer, me)
	for i := range 6 {
		for j, content := range []*genai.Content{
			genai.NewContentFromText("go", genai.RoleUser),
			{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: fmt.Sprint("c", i), Name: "tool"}}}},
			{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: fmt.Sprint("c", i), Name: "tool", Response: result(fmt.Sprint("result ", i))}}}},
			genai.NewContentFromText("done", genai.RoleModel),
		} {
			ev := session.NewEventWithContext(t.Context(), fmt.Sprint("inv", i))
			ev.Author, ev.Content = "agent", content
			if j == 0 {
				ev.Author = "user"
			}
			if err := layer.AppendEvent(t.Context(), c.sess, ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen := map[string]bool{}
	resp, err := layer.Get(t.Context(), &session.GetRequest{AppName: me.AppName, UserID: me.UserID, SessionID: me.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	for ev := range resp.Session.Events().All() {
		for _, part := range ev.Content.Parts {
			if part.FunctionResponse != nil {
				seen[store.ResultOf(part.FunctionResponse.Response).Ref] = true
			}
		}
	}
	if seen[refOf("result 0")] {
		t.Fatal("the view still shows the first result: the test compacts nothing")
	}
	for name, svc := range map[string]session.Service{"inner": inner, "layer": layer, "decorated": unwrapping{layer}} {
		for i := range 6 {
			want := fmt.Sprint("result ", i)
			if got, err := readAll(t.Context(), store.Events(svc), me, refOf(want)); err != nil || got != want {
				t.Errorf("%s: %q, %v, want %q", name, got, err, want)
			}
		}
	}
}

// unwrapping is a decorator of somebody else.
type unwrapping struct{ session.Service }

func (u unwrapping) Unwrap() session.Service { return u.Service }

// endless unwraps to itself.
type endless struct{ session.Service }

func (e endless) Unwrap() session.Service { return e }

func TestADecoratorIsReadThroughItsOwnGet(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	newChat(t, inner, store.Owner{AppName: "tenant-app", UserID: "user", SessionID: "s"}).add(result("x"))
	for name, svc := range map[string]session.Service{"renaming": renaming{inner}, "endless": endless{renaming{inner}}} {
		if got, err := readAll(t.Context(), store.Events(svc), me, refOf("x")); err != nil || got != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// renaming is a decorator that stores apps under other names.
type renaming struct{ session.Service }

func (r renaming) Unwrap() session.Service { return r.Service }

func (r renaming) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	renamed := *req
	renamed.AppName = "tenant-" + req.AppName
	return r.Service.Get(ctx, &renamed)
}

// faulty fails in a way that can be changed.
type faulty struct {
	session.Service
	get atomic.Pointer[func(context.Context) (*session.GetResponse, error)]
}

func (f *faulty) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if get := f.get.Load(); get != nil {
		return (*get)(ctx)
	}
	return f.Service.Get(ctx, req)
}

func TestAFailingServiceIsNoUnknownReference(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, get := range map[string]func(context.Context) (*session.GetResponse, error){
		"fails":  func(context.Context) (*session.GetResponse, error) { return nil, down },
		"panics": func(context.Context) (*session.GetResponse, error) { panic("broken") },
		"hangs":  func(ctx context.Context) (*session.GetResponse, error) { <-ctx.Done(); return nil, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc := &faulty{Service: session.InMemoryService()}
			newChat(t, svc, me).add(result("x"))
			src := store.Events(svc)
			svc.get.Store(&get)
			ctx, cancel := context.WithCancel(t.Context())
			if name == "hangs" {
				cancel()
			}
			if _, err := readAll(ctx, src, me, refOf("x")); err == nil || errors.Is(err, store.ErrUnknownRef) {
				t.Errorf("the error is %v", err)
			}
			cancel()
			svc.get.Store(nil)
			if got, err := readAll(t.Context(), src, me, refOf("x")); err != nil || got != "x" {
				t.Errorf("afterwards: %q, %v", got, err)
			}
		})
	}
}

// A Get that ignores its context holds up nobody longer than their own context.
func TestAReaderDoesNotWaitForOneThatHangs(t *testing.T) {
	t.Parallel()
	svc := &faulty{Service: session.InMemoryService()}
	newChat(t, svc, me).add(result("x"))
	src := store.Events(svc)
	entered, release := make(chan struct{}), make(chan struct{})
	hang := func(context.Context) (*session.GetResponse, error) {
		close(entered)
		<-release
		return nil, errors.New("late")
	}
	svc.get.Store(&hang)
	var wg sync.WaitGroup
	wg.Go(func() { readAll(context.Background(), src, me, refOf("x")) })
	<-entered
	svc.get.Store(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readAll(ctx, src, me, refOf("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("the second reader got %v", err)
	}
	if got, err := readAll(t.Context(), src, me, refOf("x")); err != nil || got != "x" {
		t.Errorf("the third reader got %q, %v", got, err)
	}
	close(release)
	wg.Wait()
}

func TestConcurrentReadsOfOneSessionShareItsIndex(t *testing.T) {
	t.Parallel()
	svc := &counted{Service: session.InMemoryService()}
	src := store.Events(svc)
	c := newChat(t, svc, me)
	for i := range 20 {
		c.add(result(fmt.Sprint("result ", i)))
	}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			want := fmt.Sprint("result ", i%20)
			if got, err := readAll(t.Context(), src, me, refOf(want)); err != nil || got != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		})
	}
	wg.Wait()
	if full := svc.events.Load(); full > 20+20*20 {
		t.Errorf("100 reads read %d events", full)
	}
}

func TestWithoutAServiceEveryReferenceIsUnknown(t *testing.T) {
	t.Parallel()
	var typed *faulty
	for name, svc := range map[string]session.Service{"nil": nil, "typed nil": typed} {
		if _, err := readAll(t.Context(), store.Events(svc), me, refOf("x")); err != store.ErrUnknownRef {
			t.Errorf("%s: %v", name, err)
		}
	}
}
