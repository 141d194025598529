package compactor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/hanging"
)

// Lease takes a lease on a session; see compaction.Leaser.
type Lease func(ctx context.Context, sess session.Session, ttl time.Duration) (release func(), ok bool, err error)

const (
	// leaseTimeout bounds a call to take or to give back a lease.
	leaseTimeout = 5 * time.Second
	// leaseMargin is how much longer a lease lasts than summarizer calls: for reading the session and storing the
	// record, which has two tries of up to 5 s.
	leaseMargin = 15 * time.Second
	// leaseWaiting is how long a lease is kept for a record that waits for this process's next turn of the session.
	leaseWaiting = 10 * time.Minute

	leasedElsewhere = "another process compacts this session"
)

// leases are those of one service. Without them, two processes that serve a session in turn both pay for a summary
// of the same events, and one summary is thrown away.
//
//	process A   turn 5 ends: lease, look at storage, summarize ... store, release
//	process B   turn 6 ends:             not leased: no job            turn 7 ends: A's record is there
type leases struct {
	take     Lease // nil for none
	reporter *telemetry.Reporter
	// needed is how long a lease must last for one summary, and for the merge that makes room for it.
	needed time.Duration
	calls  hanging.Steps[adk.SessionRef]
}

// acquire takes the lease on a session for a job, and reports whether the job may go on. If leases cannot be had
// at all, it may: a summary that is paid for twice does less harm than prompts that only grow.
func (l *leases) acquire(ctx context.Context, h *sessions.Handle, ttl time.Duration) bool {
	st := h.State
	st.Lease.Release()
	var (
		mu     sync.Mutex
		gone   bool
		taken  func()
		until  = time.Now().Add(ttl)
		silent = func() {}
	)
	err := l.calls.Run(ctx, leaseTimeout, st.Ref, func(ctx context.Context) error {
		release, ok, err := l.take(ctx, h.Inner, ttl)
		if err != nil || !ok {
			return err
		}
		if release == nil {
			release = silent
		}
		mu.Lock()
		defer mu.Unlock()
		if gone { // the job has gone on without it
			release()
			return nil
		}
		taken = release
		return nil
	})
	mu.Lock()
	gone = true
	mu.Unlock()
	if ctx.Err() != nil {
		if taken != nil {
			l.giveBack(st.Ref, taken)
		}
		return false
	}
	l.reporter.Leases(ctx, st, err)
	switch {
	case err != nil:
		st.Lease.Keep(silent, until)
		return true
	case taken == nil:
		return false
	}
	st.Lease.Keep(func() { l.giveBack(st.Ref, taken) }, until)
	return true
}

// giveBack gives a lease back. One that cannot be given back expires.
func (l *leases) giveBack(ref adk.SessionRef, release func()) {
	_ = l.calls.Run(context.Background(), leaseTimeout, ref, func(context.Context) error {
		release()
		return nil
	})
}

// mayWrite reports whether the job may have a summary written now, and if not, whether it may plan again. A background
// job takes a lease first, and then reads the session again, because another process may have compacted it before.
func (c *compactor) mayWrite(ctx context.Context, next step) (may, again bool) {
	e, st := c.engine, c.h.State
	if e.leases.take == nil || c.job.Inline || c.chosen != nil || st.Lease.Lasts(time.Now().Add(e.leases.needed)) {
		return true, false
	}
	decline := func(reason string) (may, again bool) {
		j := c.job
		j.Trigger = next.candidate.trigger
		e.reporter.Decline(ctx, st, j, next.candidate.Selection, reason)
		return false, false
	}
	ttl := e.leases.needed + max(e.cfg.Timeout, leaseMargin)
	if e.storage.MustWait(c.job) {
		ttl += leaseWaiting
	}
	if !e.leases.acquire(ctx, c.h, ttl) {
		if err := ctx.Err(); err != nil {
			return decline(err.Error())
		}
		return decline(leasedElsewhere)
	}
	h, err := e.sessions.Handle(ctx, st.Ref)
	switch {
	case adk.IsNotFound(err) || err == nil && h.State != st:
		return decline("session was deleted meanwhile")
	case err != nil:
		return decline(fmt.Sprintf("the session cannot be read again: %v", err))
	}
	c.h = h
	if e.storage.MustWait(c.job) && len(st.Waiting.All()) > 0 {
		c.h = h.Ahead()
	}
	return false, true
}
