package compaction_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// locks lets one process at a time have a session. It notes what it was asked.
type locks struct {
	mu    sync.Mutex
	held  bool
	taken int
	back  chan struct{} // one for each lease that was given back
}

func newLocks() *locks { return &locks{back: make(chan struct{}, 1000)} }

func (l *locks) lease(_ context.Context, of compaction.SessionRef, ttl time.Duration) (release func(), ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of != ref || ttl <= 0 {
		return nil, false, errors.New("not this session")
	}
	if l.held {
		return nil, false, nil
	}
	l.held = true
	l.taken++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		l.held = false
		l.mu.Unlock()
		l.back <- struct{}{}
	}), true, nil
}

func (l *locks) state() (taken int, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken, l.held
}

// leased is the service of one process of several over one store, with a summarizer that waits.
func leased(t *testing.T, inner session.Service, l *locks) (*compaction.CompactionSessionService, *gated, *notes) {
	t.Helper()
	summaries := newGated()
	cfg, seen := inBackground(func(c *compaction.Config) {
		c.Summarizer = summaries
		if l != nil {
			c.Lease = l.lease
		}
	})
	return newService(t, inner, cfg), summaries, seen
}

// TestOneOfTwoProcessesPaysForASummary: turns alternate between two processes, and the second ends while the first
// one's summary is written. Without a lease both pay.
func TestOneOfTwoProcessesPaysForASummary(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		l := newLocks()
		first, summaries, told := leased(t, inner, l)
		second, others, refused := leased(t, inner, l)
		events := turns(7)
		appendAll(t, first, create(t, first), events[:10]...)
		<-summaries.asked
		appendAll(t, second, get(t, second), events[10:12]...)
		await(t, refused, compaction.Declined, 1)
		if o := refused.of(compaction.Declined)[0]; !strings.Contains(o.Reason, "another process") || o.Inline || o.InvocationID == "" {
			t.Errorf("declined: %+v", o)
		}
		close(summaries.open)
		close(others.open)
		flush(t, first)
		appendAll(t, first, get(t, first), events[12:]...) // over a plain service, the record is stored now
		await(t, told, compaction.Stored, 1)
		flush(t, first)
		flush(t, second)
		if len(others.asked) != 0 {
			t.Errorf("the second process asked its summarizer %d times", len(others.asked))
		}
		if n := len(told.of(compaction.Discarded)) + len(refused.of(compaction.Discarded)); n != 0 {
			t.Errorf("%d summaries were paid for and thrown away", n)
		}
		if _, held := l.state(); held {
			t.Error("the lease was not given back")
		}
		wantOnce(t, second, events)
		wantCoveredOnce(t, second)
		checkView(t, second)
	})
}

// TestAJobLooksAtStorageOnceItHasTheLease: the handle of its turn is older than another process's record.
func TestAJobLooksAtStorageOnceItHasTheLease(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		l := newLocks()
		bare := newService(t, inner, func() compaction.Config { cfg, _ := manualOnly(); return cfg }())
		events := turns(5)
		appendAll(t, bare, create(t, bare), events[:9]...)
		svc, summaries, seen := leased(t, inner, l)
		close(summaries.open)
		turn := get(t, svc)
		compact(t, bare, compaction.CompactOptions{KeepRecent: 1})
		appended := turn
		if err := svc.AppendEvent(t.Context(), appended, events[9]); err != nil { // ADK's database service calls the handle stale
			appendAll(t, svc, get(t, svc), events[9])
		}
		flush(t, svc)
		if len(summaries.asked) != 0 {
			t.Errorf("events that another process had summarized were summarized again: %v", seen.all())
		}
		wantOnce(t, svc, events)
		wantCoveredOnce(t, svc)
	})
}

// TestALeaseLastsUntilTheWaitingRecordIsStored: over a plain service the record waits for the next append of this
// process, and until then another process would summarize the same.
func TestALeaseLastsUntilTheWaitingRecordIsStored(t *testing.T) {
	t.Parallel()
	inner, l := newPlain(), newLocks()
	first, summaries, told := leased(t, inner, l)
	second, others, refused := leased(t, inner, l)
	close(summaries.open)
	close(others.open)
	events := turns(9)
	appendAll(t, first, create(t, first), events[:10]...)
	await(t, told, compaction.Waiting, 1)
	for n := 10; n < 14; n += 2 {
		appendAll(t, second, get(t, second), events[n:n+2]...)
		await(t, refused, compaction.Declined, (n-8)/2)
	}
	if _, held := l.state(); !held {
		t.Error("the lease was given back while the record waits")
	}
	appendAll(t, first, get(t, first), events[14]) // the record is stored behind it
	await(t, told, compaction.Stored, 1)
	<-l.back
	appendAll(t, second, get(t, second), events[15:]...)
	flush(t, second)
	if n := len(others.asked); n != 0 {
		t.Errorf("the second process asked its summarizer %d times", n)
	}
	wantOnce(t, first, events)
	wantCoveredOnce(t, first)
}

// TestADeletedSessionGivesItsLeaseBack: a record that waits for a session that is deleted is never stored.
func TestADeletedSessionGivesItsLeaseBack(t *testing.T) {
	t.Parallel()
	inner, l := newPlain(), newLocks()
	svc, summaries, told := leased(t, inner, l)
	close(summaries.open)
	appendAll(t, svc, create(t, svc), turns(5)...)
	await(t, told, compaction.Waiting, 1)
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	<-l.back
}

// TestALeaseThatCannotBeHadStopsNothing: a summary that is paid for twice does less harm than prompts that only grow.
func TestALeaseThatCannotBeHadStopsNothing(t *testing.T) {
	t.Parallel()
	late, released := make(chan struct{}), make(chan struct{}, 100)
	for name, lease := range map[string]func(context.Context, compaction.SessionRef, time.Duration) (func(), bool, error){
		"error": func(context.Context, compaction.SessionRef, time.Duration) (func(), bool, error) {
			return nil, false, errors.New("lock server: connection refused")
		},
		"panic": func(context.Context, compaction.SessionRef, time.Duration) (func(), bool, error) { panic("lock") },
		"hangs, and is had too late": func(context.Context, compaction.SessionRef, time.Duration) (func(), bool, error) {
			<-late
			return func() { released <- struct{}{} }, true, nil
		},
		"no release": func(context.Context, compaction.SessionRef, time.Duration) (func(), bool, error) {
			return nil, true, nil
		},
		"release panics": func(context.Context, compaction.SessionRef, time.Duration) (func(), bool, error) {
			return func() { panic("lock") }, true, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			cfg, seen := inBackground(func(c *compaction.Config) {
				c.Lease = lease
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			events := turns(12)
			for len(events) > 0 {
				appendAll(t, svc, sess, events[:2]...)
				events = events[2:]
				flush(t, svc)
			}
			if n := len(seen.of(compaction.Stored)); n < 2 {
				t.Errorf("%d records stored: %v", n, seen.all())
			}
			if name == "hangs, and is had too late" {
				close(late)
				<-released
			}
			want := 1
			if strings.Contains(name, "release") {
				want = 0
			}
			if n := strings.Count(log.String(), "no lease on a session can be had"); n != want {
				t.Errorf("told %d times, want %d:\n%s", n, want, log.String())
			}
			if strings.Contains(log.String(), "refused") {
				t.Errorf("the log quotes the error:\n%s", log.String())
			}
			checkView(t, svc)
		})
	}
}

// TestATurnTakesNoLease: what a turn or a person waits for is done whoever else is at it.
func TestATurnTakesNoLease(t *testing.T) {
	t.Parallel()
	l := newLocks()
	l.held = true
	cfg, oracle := oracleConfig()
	cfg.Lease = l.lease
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(6)...)
	if len(oracle.Requests()) != 1 {
		t.Errorf("a synchronous compaction asked the summarizer %d times, want 1", len(oracle.Requests()))
	}
	if result := compact(t, svc, compaction.CompactOptions{KeepRecent: 1}); result.Skipped {
		t.Errorf("by hand: %+v", result)
	}
	if taken, _ := l.state(); taken != 0 {
		t.Errorf("%d leases were taken", taken)
	}
}

// leasing is an inner service with leases.
type leasing struct {
	session.Service
	locks *locks
}

func (s leasing) Lease(ctx context.Context, sess session.Session, ttl time.Duration) (func(), bool, error) {
	return s.locks.lease(ctx, compaction.SessionRef{AppName: sess.AppName(), UserID: sess.UserID(), SessionID: sess.ID()}, ttl)
}

// TestTheInnerServiceGivesLeases, unless the config has a function of its own.
func TestTheInnerServiceGivesLeases(t *testing.T) {
	t.Parallel()
	for _, configured := range []bool{false, true} {
		inner, own := newLocks(), newLocks()
		cfg, seen := inBackground(func(c *compaction.Config) {
			if configured {
				c.Lease = own.lease
			}
		})
		svc := newService(t, leasing{session.InMemoryService(), inner}, cfg)
		appendAll(t, svc, create(t, svc), turns(6)...)
		await(t, seen, compaction.Waiting, 1)
		fromInner, _ := inner.state()
		fromOwn, _ := own.state()
		if configured != (fromOwn == 1) || configured == (fromInner == 1) {
			t.Errorf("configured %t: %d leases of the inner service, %d of the config", configured, fromInner, fromOwn)
		}
	}
}

// TestABacklogIsSummarizedUnderOneLease: a job of many windows does not ask for a lease, and read the session again, before
// each of them.
func TestABacklogIsSummarizedUnderOneLease(t *testing.T) {
	t.Parallel()
	for name, inner := range map[string]session.Service{"at once": session.InMemoryService(), "in turns": newPlain()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocks()
			events := turns(60)
			appendAll(t, inner, create(t, inner), events[:119]...)
			cfg, seen := inBackground(func(c *compaction.Config) {
				c.InvocationThreshold, c.OverlapSize, c.MaxSummaries = 2, 1, 2
				c.Lease, c.Summarizer = l.lease, &limited{max: 300}
			})
			svc := newService(t, inner, cfg)
			appendAll(t, svc, get(t, svc), events[119])
			flush(t, svc)
			if stored := len(seen.of(compaction.Stored)); stored < 5 {
				t.Fatalf("%d records: no backlog", stored)
			}
			if taken, held := l.state(); held || taken != 1 {
				t.Errorf("%d leases for %d records; held at the end: %t", taken, len(seen.of(compaction.Stored)), held)
			}
			wantOnce(t, svc, events)
			checkView(t, svc)
		})
	}
}
