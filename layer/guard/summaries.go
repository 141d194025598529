package guard

import (
	"context"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
	"github.com/adk-go-ext/longsession/tokens"
)

// Compactions returns an observer for compaction.Config.Observer. It charges what the summarizer uses to the
// session whose conversation it summarizes, and then calls next, unless that is nil. A summary is never
// refused, but can reach a bound. It is stored with the session's next event, or by [Guard.Save].
//
// Do not wrap the summarizer's model with [Guard.Model]: its calls would be counted twice.
func (g *Guard) Compactions(next func(context.Context, compaction.Observation)) func(context.Context, compaction.Observation) {
	return func(ctx context.Context, o compaction.Observation) {
		charge(ctx, g, o)
		if next != nil {
			next(ctx, o)
		}
	}
}

// MaySummarize reports whether a session may still spend: no bound refuses its next run. It is for
// compaction.Config.MaySummarize, so that no background summary starts once a bound is reached.
func (g *Guard) MaySummarize(ref compaction.SessionRef) bool {
	account, _ := g.sessions.peek(ref)
	return account == nil || account.Refuses(g.cfg.Now()) == nil
}

// charge charges what a compaction has used.
func charge(ctx context.Context, g *Guard, o compaction.Observation) {
	usage := o.Usage.Add(o.Estimated)
	if usage == (tokens.Usage{}) && o.Answers == 0 {
		return
	}
	account, _ := g.sessions.of(o.Session, false)
	p := ledger.Payer{Account: account}
	if account.Runs(o.InvocationID) {
		p = account.Turn(o.InvocationID)
	}
	amount, priced := g.amount(o.Model, usage)
	amount.Calls = max(1, o.Answers) // a long window is read in pieces, and an answer that is too long asked for once more
	s := p.Summary(g.cfg.Now(), o.Model, amount, !priced)
	who := caller{ref: o.Session, invocation: o.InvocationID, branch: o.Branch}
	g.charged(ctx, who, p, o.Model, s.Charged, s)
	if o.Estimated != (tokens.Usage{}) && firstTime(g.once, Unmetered, o.Session, o.Model) {
		told := who.observation(Unmetered, p)
		told.Model, told.Reason = o.Model, "no report of a summary's usage came: estimated tokens are charged"
		g.observe(ctx, told)
	}
}
