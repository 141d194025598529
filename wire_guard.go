package longsession

import (
	"context"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// addGuard makes the guard, and has it count what summaries cost.
func (b *builder) addGuard() error {
	if !b.cfg.uses(LayerGuard) {
		return nil
	}
	g, err := guard.New(b.cfg.Guard)
	if err != nil {
		return err
	}
	b.Guard = g
	compacting := &b.cfg.Compaction
	compacting.Observer = g.Compactions(compacting.Observer)
	may := compacting.MaySummarize
	compacting.MaySummarize = func(ref compaction.SessionRef) bool { return g.MaySummarize(ref) && (may == nil || may(ref)) }
	return nil
}

// saveTotals stores what was charged since the last event of each session, such as a summary after the last turn.
func (s *Stack) saveTotals(ctx context.Context) error {
	if s.Guard == nil {
		return nil
	}
	return s.Guard.Save(ctx, s.Sessions)
}
