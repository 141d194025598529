package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

func TestACanceledContextStoresNothing(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, errCreate := s.Create(ctx, &session.CreateRequest{AppName: app, UserID: user, SessionID: "new"})
	_, errGet := s.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: "s"})
	_, errList := s.List(ctx, &session.ListRequest{AppName: app})
	for name, err := range map[string]error{
		"append": s.AppendEvent(ctx, sess, text("a", "")), "create": errCreate, "get": errGet, "list": errList,
		"delete": s.Delete(ctx, &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := get(t, s, "s").Events().Len(); n != 0 || sess.Events().Len() != 0 {
		t.Errorf("%d events stored, %d in the handle", n, sess.Events().Len())
	}
}

// impatient is a context that ends when Done is called for the at-th time.
type impatient struct {
	context.Context
	cancel context.CancelFunc
	at     int32
	asked  atomic.Int32
}

func newImpatient(t *testing.T, at int) *impatient {
	c := &impatient{at: int32(at)}
	c.Context, c.cancel = context.WithCancel(t.Context())
	t.Cleanup(c.cancel)
	return c
}

func (c *impatient) Done() <-chan struct{} {
	if c.asked.Add(1) == c.at {
		c.cancel()
	}
	return c.Context.Done()
}

// Another process holds the lock, so the event's transaction has not begun. The caller can give up
// without waiting for the lock, and the event is not stored.
func TestACallerWhoGivesUpWaitingStoresNothing(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	unlock := lock(t, path)
	ctx := newImpatient(t, 2) // the first call is made when the event is handed to the writer
	if err := s.AppendEvent(ctx, sess, text("given up", "")); !errors.Is(err, context.Canceled) || ctx.asked.Load() < 2 {
		t.Errorf("error %v, Done was called %d times", err, ctx.asked.Load())
	}
	waiting := make(chan error)
	go func() { waiting <- s.AppendEvent(t.Context(), sess, text("patient", "")) }()
	unlock()
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	if got := ids(get(t, s, "s")); !slices.Equal(got, []string{"patient"}) || !slices.Equal(ids(sess), got) {
		t.Errorf("stored %v, in the handle %v", got, ids(sess))
	}
}

// An event is stored if and only if AppendEvent returns nil.
func TestTheAnswerIsTrueWheneverTheContextEnds(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	var mu sync.Mutex
	var accepted []string
	refused := 0
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 0))
			for n := range 40 {
				ctx, cancel := context.WithCancel(context.Background())
				spin := random.IntN(20_000)
				go func() {
					for range spin {
						_ = ctx.Err()
					}
					cancel()
				}()
				id := fmt.Sprintf("%d/%d", g, n)
				err := s.AppendEvent(ctx, sess, text(id, ""))
				mu.Lock()
				if err == nil {
					accepted = append(accepted, id)
				} else {
					refused++
				}
				mu.Unlock()
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				<-ctx.Done()
			}
		})
	}
	wg.Wait()
	stored := ids(get(t, s, "s"))
	if !slices.Equal(stored, ids(sess)) {
		t.Error("handle and file differ")
	}
	slices.Sort(stored)
	slices.Sort(accepted)
	if !slices.Equal(stored, accepted) {
		t.Errorf("%d events stored, %d accepted", len(stored), len(accepted))
	}
	if len(accepted) == 0 || refused == 0 {
		t.Errorf("%d accepted, %d refused: the test compared nothing", len(accepted), refused)
	}
}

// A canceled read leaves its connection usable. In memory there is only one connection.
func TestAReadThatIsCutOffHarmsNoLaterOne(t *testing.T) {
	t.Parallel()
	for _, path := range []string{newPath(t), ":memory:"} {
		s := open(t, path, persistence.WithSynchronousNormal())
		sess := create(t, s, "s")
		for n := range 300 {
			appendTo(t, s, sess, typical(n))
		}
		cut, read := 0, 0
		for n := range 40 {
			resp, err := s.Get(newImpatient(t, n), &session.GetRequest{AppName: app, UserID: user, SessionID: "s"})
			switch {
			case err != nil && !errors.Is(err, context.Canceled):
				t.Error(err)
			case err != nil:
				cut++
			case resp.Session.Events().Len() != 300+n:
				t.Errorf("%d events read, want %d", resp.Session.Events().Len(), 300+n)
			default:
				read++
			}
			appendTo(t, s, sess, text(fmt.Sprint(n), ""))
			if got := get(t, s, "s").Events().Len(); got != 301+n {
				t.Errorf("%d events read afterwards, want %d", got, 301+n)
			}
		}
		if cut < 3 || read == 0 {
			t.Errorf("%d reads cut off, %d not", cut, read)
		}
	}
}
