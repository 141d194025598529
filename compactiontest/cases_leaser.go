package compactiontest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/adk/session"
)

func leaserCases() []Case {
	return []Case{
		{
			Name: "Lease lets one at a time have a session",
			Explain: "Checks that a session can be leased once until the lease is given back, also if several ask at once, and that other sessions can be leased meanwhile. " +
				"If two processes have the lease, both pay for the same summary. A refusal is no error: after an error the compaction service goes on without a lease.",
			Check: leasing(checkOneLease),
		},
		{
			Name: "Lease ends without its process",
			Explain: "Checks that a lease that is not given back ends after its time, and not before. A process may be killed while it compacts. If its lease does not end, " +
				"no process summarizes the session in the background again.",
			Check: leasing(checkExpiry),
		},
		{
			Name: "Lease is given back once",
			Explain: "Checks that a lease that has ended gives nothing back: neither after its time, when another process may have the next one, nor when it is given back twice. " +
				"It must be possible to give it back after the context has ended, because jobs are canceled.",
			Check: leasing(checkRelease),
		},
	}
}

func leasing(f func(p *innerPlay, l leaser)) func(context.Context, session.Service) error {
	return func(ctx context.Context, service session.Service) error {
		l, ok := service.(leaser)
		if !ok {
			return fmt.Errorf("%w: Lease", errNotOffered)
		}
		return playingInner(func(p *innerPlay) { f(p, l) })(ctx, service)
	}
}

// longLease ends in no test, and patience is how long a test waits for the end of a short one.
const longLease, patience = time.Hour, 10 * time.Second

// lease asks for a lease, and adds an error or a nil release to the findings.
func (p *innerPlay) lease(ctx context.Context, l leaser, sess session.Session, ttl time.Duration) (release func(), ok bool) {
	release, ok, err := l.Lease(ctx, sess, ttl)
	switch {
	case err != nil:
		p.add("lease a session: %w", err)
	case ok && release == nil:
		p.add("a lease cannot be given back: release is nil")
		return func() {}, true
	}
	return release, ok && err == nil
}

func checkOneLease(p *innerPlay, l leaser) {
	release, ok := p.lease(p.ctx, l, p.live, longLease)
	if !ok {
		p.add("the first lease is refused")
		return
	}
	if _, ok := p.lease(p.ctx, l, p.load(), longLease); ok {
		p.add("a session is leased twice")
	}
	other, err := p.service.Create(p.ctx, &session.CreateRequest{AppName: suiteApp, UserID: suiteUser, SessionID: "another"})
	if err != nil {
		p.add("create another session: %w", err)
		return
	}
	if _, ok := p.lease(p.ctx, l, other.Session, longLease); !ok {
		p.add("another session cannot be leased meanwhile")
	}
	release()

	var granted atomic.Int32
	var errs [innerWriters]error
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, ok, err := l.Lease(p.ctx, p.live, longLease)
			if errs[i] = err; ok {
				granted.Add(1)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			p.add("one of several who ask at once gets an error: %w", err)
		}
	}
	if n := granted.Load(); n != 1 {
		p.add("%d of %d who ask at once get the lease that was given back, want 1", n, innerWriters)
	}
}

func checkExpiry(p *innerPlay, l leaser) {
	if _, ok := p.lease(p.ctx, l, p.live, time.Millisecond); !ok {
		p.add("the first lease is refused")
		return
	}
	if !p.leaseInTime(l) {
		p.add("a lease of 1 ms has not ended after %v", patience)
	}
	if _, ok := p.lease(p.ctx, l, p.live, longLease); ok {
		p.add("a lease of %v ended at once", longLease)
	}
}

// leaseInTime reports whether a session can be leased for long once an earlier lease has ended.
func (p *innerPlay) leaseInTime(l leaser) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && p.ctx.Err() == nil; time.Sleep(time.Millisecond) {
		if _, ok := p.lease(p.ctx, l, p.live, longLease); ok {
			return true
		}
	}
	return false
}

func checkRelease(p *innerPlay, l leaser) {
	late, ok := p.lease(p.ctx, l, p.live, time.Millisecond)
	if !ok || !p.leaseInTime(l) {
		p.add("a lease of 1 ms and the next one are not had")
		return
	}
	late()
	if _, ok := p.lease(p.ctx, l, p.live, longLease); ok {
		p.add("a lease that had ended gave back the next one")
	}

	other, err := p.service.Create(p.ctx, &session.CreateRequest{AppName: suiteApp, UserID: suiteUser, SessionID: "another"})
	if err != nil {
		p.add("create another session: %w", err)
		return
	}
	ctx, cancel := context.WithCancel(p.ctx)
	release, ok := p.lease(ctx, l, other.Session, longLease)
	cancel()
	if !ok {
		p.add("another session cannot be leased")
		return
	}
	release()
	if _, ok := p.lease(p.ctx, l, other.Session, longLease); !ok {
		p.add("a lease is not given back after its context has ended")
	}
	release()
	if _, ok := p.lease(p.ctx, l, other.Session, longLease); ok {
		p.add("a lease that is given back twice gives back the next one")
	}
}
