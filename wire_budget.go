package longsession

import (
	"context"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
)

// addBudget makes the meter. With LayerBudget disabled it only masks and offers read_result: no use of the
// window has a consequence, and an overflow is the provider's error.
func (b *builder) addBudget() error {
	switch {
	case b.cfg.uses(LayerBudget):
		b.cfg.Compaction.Fixed, b.cfg.Compaction.Fits = b.fixed, true
	case b.cfg.uses(LayerToolResults):
		b.cfg.Budget.Thresholds = budget.Thresholds{Note: budget.Off, Compact: budget.Off, Block: budget.Off}
		b.cfg.Budget.Passive = true
	default:
		return nil
	}
	b.cfg.Budget.Compactor = compactor{b.Stack}
	meter, err := budget.New(b.cfg.Budget)
	b.meter = meter
	return err
}

// fixed is the size of what an agent's requests hold besides their contents.
func (s *Stack) fixed(ref compaction.SessionRef, agent, branch string) int {
	return s.meter.Fixed(ref, agent, branch)
}

// compactor is the stack's session service, which does not exist yet when the meter is made.
type compactor struct{ s *Stack }

func (c compactor) Compact(ctx context.Context, ref compaction.SessionRef, opts compaction.CompactOptions) (compaction.CompactResult, error) {
	return c.s.Sessions.Compact(ctx, ref, opts)
}

func (c compactor) Owns(sess session.Session) bool { return c.s.Sessions.Owns(sess) }

func (c compactor) ObserveSent(ctx agent.InvocationContext, req *model.LLMRequest, masked int) {
	c.s.Sessions.ObserveSent(ctx, req, masked)
}

func (c compactor) Triggers(ref compaction.SessionRef) compaction.Triggers {
	return c.s.Sessions.Triggers(ref)
}
