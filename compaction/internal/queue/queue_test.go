package queue_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adk-go-ext/longsession/compaction/internal/queue"
)

// Of three jobs for one session that are asked for while the first works, only the last is done.
func TestTheNewestJobReplacesTheOneInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, line := queue.New(), queue.NewLine()
		var mu sync.Mutex
		var done []string
		hold := make(chan struct{})
		job := func(name string, wait <-chan struct{}) {
			q.Background(t.Context(), line, func(context.Context) {
				<-wait
				mu.Lock()
				defer mu.Unlock()
				done = append(done, name)
			})
			synctest.Wait()
		}
		free := make(chan struct{})
		close(free)
		job("A", hold)
		job("B", free)
		job("C", free)
		if !line.Busy() {
			t.Error("the line is not busy")
		}
		close(hold)
		if err := line.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(done) != 2 || done[0] != "A" || done[1] != "C" {
			t.Errorf("did %v, want A and C", done)
		}
		if err := q.Close(t.Context(), func() {}); err != nil {
			t.Fatal(err)
		}
	})
}

// A turn at the hard limit waits until its deadline and then ends the job that holds the session.
func TestATurnAtTheLimitPreempts(t *testing.T) {
	for _, atLimit := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q, line := queue.New(), queue.NewLine()
			sawPriority := false
			q.Background(t.Context(), line, func(ctx context.Context) {
				<-ctx.Done()
				sawPriority = line.Prioritized()
			})
			synctest.Wait()
			began, gaveUp, got, preempted := time.Now(), 0, false, false
			turn := queue.Turn{Deadline: began.Add(time.Minute), AtLimit: atLimit, GivenUp: func() { gaveUp++ }}
			q.Inline(t.Context(), line, turn, func(p bool) { got, preempted = true, p })
			if waited := time.Since(began); waited != time.Minute || gaveUp != 1 {
				t.Errorf("at the limit %t: waited %v, gave up %d times", atLimit, waited, gaveUp)
			}
			if got != atLimit || preempted != atLimit || sawPriority != atLimit {
				t.Errorf("at the limit %t: got the session %t, preempted %t, the job saw it %t", atLimit, got, preempted, sawPriority)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := q.Close(ended, func() {}); !errors.Is(err, context.Canceled) {
				t.Errorf("Close returned %v", err)
			}
			if err := line.Wait(t.Context()); err != nil { // Close has ended the job
				t.Error(err)
			}
		})
	}
}

func TestAClosedQueueDoesNothing(t *testing.T) {
	t.Parallel()
	q, line := queue.New(), queue.NewLine()
	last := false
	if err := q.Close(t.Context(), func() { last = true }); err != nil || !last {
		t.Fatalf("Close returned %v, did the last work %t", err, last)
	}
	did := false
	q.Background(t.Context(), line, func(context.Context) { did = true })
	q.Inline(t.Context(), line, queue.Turn{}, func(bool) { did = true })
	if err := q.ByHand(t.Context(), line, func() error { did = true; return nil }); !errors.Is(err, queue.ErrClosed) || did {
		t.Errorf("by hand: %v, did anything %t", err, did)
	}
	if err := line.Exclusively(t.Context(), func() error { did = true; return nil }); err != nil || !did {
		t.Errorf("exclusively: %v, did it %t", err, did)
	}
}

func TestALockIsWaitedForWithAContext(t *testing.T) {
	t.Parallel()
	l := queue.NewLock()
	if err := l.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Acquire(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := l.AcquireFree(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	l.Release()
	if err := l.Acquire(ended); err == nil {
		t.Error("a context that has ended gets a free lock")
	}
	if err := l.AcquireFree(ended); err != nil {
		t.Errorf("a free lock is refused: %v", err)
	}
}

func TestOnlyOneTakesWhatWaits(t *testing.T) {
	t.Parallel()
	var w queue.Waiting[int]
	if !w.Add(1) || !w.Add(2) || !w.Take(1) || w.Take(1) {
		t.Error("an item was taken twice, or not at all")
	}
	if all := w.All(); len(all) != 1 || all[0] != 2 {
		t.Errorf("%v wait, want 2", all)
	}
	w.Close()
	if w.Add(3) || !w.Closed() || len(w.All()) != 1 {
		t.Error("a closed line lets an item in, or loses one")
	}
}
