package guard

import (
	"context"
	"sync"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// childKey is the key of a context's [Child].
type childKey struct{}

// Child is a subtask with limits of its own, for which its caller pays. It is safe for concurrent use.
type Child struct {
	g       *Guard
	ref     compaction.SessionRef
	account *ledger.Account
	cancel  context.CancelFunc

	mu     sync.Mutex
	closed bool
	stop   *StopError // when it was closed
}

// Child opens an account for a subtask. ctx is the context of the tool that runs it, child is its own
// session, name is for reports, and the limits apply to the subtask alone. Run the subtask with the context
// that Child returns: all model calls with it are charged to the subtask, to the turn and the session of its
// caller, and to the callers of those. Call Close when it has ended.
//
// The error is a [*StopError] if a bound of a caller is reached already, and a [*compaction.ConfigError] for a limit that
// is negative.
func (g *Guard) Child(ctx context.Context, child compaction.SessionRef, name string, limits Limits) (context.Context, *Child, error) {
	var wrong configerr.Problems
	if checkLimits(&wrong, name, limits); len(wrong) > 0 {
		return ctx, nil, wrong.Join("guard limits")
	}
	var p ledger.Payer
	if who, state, ok := callerOf(ctx); ok {
		p, _ = g.payerOf(ctx, who, state)
	} else if parent := g.childOf(ctx); parent != nil {
		p = parent.account.Turn("")
	}
	if stop := p.Stopped(g.cfg.Now()); stop != nil {
		return ctx, nil, stopError(stop)
	}
	c := &Child{g: g, ref: child, account: p.Child(owner(child), ledger.Limits(limits), g.cfg.Now()), cancel: func() {}}
	g.sessions.put(child, c.account)
	g.delegates.Store(true)
	inner := context.WithValue(ctx, childKey{}, c)
	if limits.Wall > 0 {
		inner, c.cancel = context.WithTimeoutCause(inner, limits.Wall, ErrStopped)
	}
	return inner, c, nil
}

// childOf returns the subtask of this guard that a context belongs to, nil if there is none.
func (g *Guard) childOf(ctx context.Context) *Child {
	if !g.delegates.Load() {
		return nil // a look-up through ADK's chain of contexts costs microseconds
	}
	child, _ := ctx.Value(childKey{}).(*Child)
	if child == nil || child.g != g {
		return nil
	}
	return child
}

// Usage is what the subtask has used so far.
func (c *Child) Usage() Usage { return usageOf(c.account.State(c.g.cfg.Now())) }

// Left is what is left for the subtask: of each kind of limit the tightest, its callers' included. A zero
// field means that there is no limit of that kind.
func (c *Child) Left() Limits {
	return Limits(ledger.Payer{Account: c.account}.Left(c.g.cfg.Now()))
}

// Stopped is the bound that refuses further calls of the subtask, or under which its last call was made, nil if there
// is none. It does not change after Close.
func (c *Child) Stopped() *StopError {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.stop
	}
	stop, _ := c.account.Turn("").Tripped(c.g.cfg.Now())
	return stopError(stop)
}

// Close ends the subtask. Calls after the first have no effect.
func (c *Child) Close() {
	stop := c.Stopped()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed, c.stop = true, stop
		c.cancel()
	}
}
