package compaction

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

var innerRef = SessionRef{AppName: "app", UserID: "user", SessionID: "session"}

type failing struct {
	compactiontest.Oracle
	err   error
	calls int
}

func (f *failing) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	f.calls++
	if f.err != nil {
		return summarizer.Result{}, f.err
	}
	return f.Oracle.Summarize(ctx, req)
}

func serviceFor(t *testing.T, s Summarizer) *CompactionSessionService {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = s, true
	svc, err := NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

func createFor(t *testing.T, svc *CompactionSessionService, ref SessionRef) session.Session {
	t.Helper()
	resp, err := svc.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

// TestFailuresBackOffAfterThree: three are free, then one probe for each interval until one succeeds.
func TestFailuresBackOffAfterThree(t *testing.T) {
	t.Parallel()
	s := &failing{err: errors.New("quota")}
	svc := serviceFor(t, s)
	sess := createFor(t, svc, innerRef)
	attempts := &svc.sessions.Of(innerRef).Learned.Attempts
	events := (&compactiontest.History{}).Turns(30, "agent").Events
	next := 0
	turn := func() {
		t.Helper()
		for range 2 {
			if err := svc.AppendEvent(t.Context(), sess, events[next]); err != nil {
				t.Fatal(err)
			}
			next++
		}
	}
	retryIn := func(d time.Duration) { attempts.Failed(time.Now().Add(d)) }
	for s.calls < 3 && next < 20 {
		turn()
	}
	if s.calls != 3 || next != 14 {
		t.Fatalf("%d calls after %d turns, want one each after the turns 5, 6 and 7", s.calls, next/2)
	}
	if !attempts.BacksOff(time.Now()) {
		t.Fatal("no back-off after three failures")
	}
	retryIn(time.Hour)
	turn()
	turn()
	if s.calls != 3 {
		t.Errorf("%d calls while failures are backed off from", s.calls)
	}
	retryIn(-time.Hour)
	turn()
	if s.calls != 4 || !attempts.BacksOff(time.Now()) {
		t.Errorf("%d calls, backs off: %t; want one probe and the next interval", s.calls, attempts.BacksOff(time.Now()))
	}
	s.err = nil
	retryIn(-time.Hour)
	turn()
	if s.calls < 5 || attempts.BacksOff(time.Now()) {
		t.Errorf("%d calls, backs off: %t; want a success that ends it", s.calls, attempts.BacksOff(time.Now()))
	}
	if n := attempts.Status().Failures; n != 0 {
		t.Errorf("%d failures are remembered after a success", n)
	}
}
