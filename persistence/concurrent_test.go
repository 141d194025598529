package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

// The goroutines use one handle and several, one session and several, and also a database in
// memory, which has only one connection.
func TestAppendsOfManyGoroutinesInterleaveWithoutLoss(t *testing.T) {
	t.Parallel()
	for _, path := range []string{newPath(t), ":memory:"} {
		s := open(t, path, persistence.WithSynchronousNormal())
		shared := create(t, s, "shared")
		const goroutines, each = 8, 25
		var wg sync.WaitGroup
		for g := range goroutines {
			own := create(t, s, fmt.Sprint(g))
			second := get(t, s, "shared")
			wg.Go(func() {
				for n := range each {
					id := fmt.Sprintf("%d/%d", g, n)
					for _, to := range []session.Session{shared, own} {
						if err := s.AppendEvent(context.Background(), to, text(id, "")); err != nil {
							t.Error(err)
						}
					}
					if err := s.AppendEvent(context.Background(), second, text("second/"+id, "")); err != nil {
						t.Error(err)
					}
					if n%10 == 0 {
						get(t, s, "shared")
					}
				}
			})
		}
		wg.Wait()
		stored := ids(get(t, s, "shared"))
		if want := 2 * goroutines * each; len(stored) != want {
			t.Errorf("%d events stored, want %d", len(stored), want)
		}
		own := slices.DeleteFunc(slices.Clone(stored), func(id string) bool { return strings.HasPrefix(id, "second/") })
		if !slices.Equal(own, ids(shared)) {
			t.Error("the handle's order differs from the order of commits")
		}
		for g := range goroutines {
			if n := get(t, s, fmt.Sprint(g)).Events().Len(); n != each {
				t.Errorf("session %d has %d events, want %d", g, n, each)
			}
		}
	}
}

// Every append either succeeds or returns an error that reports the closing.
func TestCloseDuringAppendsLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	const goroutines = 8
	acknowledged := make([][]string, goroutines)
	begun := make(chan struct{}, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		sess := create(t, s, fmt.Sprint(g))
		wg.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprint(n)
				if err := s.AppendEvent(context.Background(), sess, text(id, "")); err != nil {
					if !errors.Is(err, persistence.ErrClosed) || !slices.Equal(ids(sess), acknowledged[g]) {
						t.Errorf("error %v, %d events in the handle, %d acknowledged", err, sess.Events().Len(), n)
					}
					return
				}
				acknowledged[g] = append(acknowledged[g], id)
				if n == 3 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range goroutines {
		<-begun
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "0"}); !errors.Is(err, persistence.ErrClosed) {
		t.Errorf("reading after Close: %v", err)
	}
	reopened := open(t, path)
	for g := range goroutines {
		if got := ids(get(t, reopened, fmt.Sprint(g))); !slices.Equal(got, acknowledged[g]) {
			t.Errorf("session %d has %d events, %d were acknowledged", g, len(got), len(acknowledged[g]))
		}
	}
}
